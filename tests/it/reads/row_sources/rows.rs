//! The rows that are given: their order, conditions, relations, aggregates and pages.

use serde_json::{Value, json};
use svc_tests::App;

use super::{database, kinds, names, options, same};

#[tokio::test]
async fn rows_keep_the_order_of_their_source() {
    let kinds = kinds().await;
    let answer = same(
        &kinds,
        "{ all: nearby(at: 2, within: null) { name } near: nearby(at: 2) { name } far: nearby(at: 9) { name shout } }",
    )
    .await;
    assert_eq!(names(&answer["all"]), ["bar", "pub", "spa", "inn", "zoo"]);
    // What is left out is the function's default.
    assert_eq!(names(&answer["near"]), ["bar", "pub", "spa", "inn"]);
    assert_eq!(answer["far"], json!([{ "name": "zoo", "shout": "ZOO" }]));
    let answer = same(
        &kinds,
        r#"{ tagged(tags: ["beer", "none"]) { name shout } less: tagged(tags: ["bed", "bears"], x: 9) { name } }"#,
    )
    .await;
    assert_eq!(names(&answer["tagged"]), ["zoo", "inn", "bar", "pub"]);
    assert_eq!(names(&answer["less"]), ["inn"]);
}

#[tokio::test]
async fn clients_filter_order_and_page_the_rows_of_a_source() {
    let kinds = kinds().await;
    for (arguments, found) in [
        (
            "at: 2, where: {name: {neq: \"bar\"}}",
            ["pub", "spa", "inn"].as_slice(),
        ),
        (
            "at: 2, orderBy: [{name: ASC}]",
            &["bar", "inn", "pub", "spa"],
        ),
        ("at: 2, limit: 2, offset: 1", &["pub", "spa"]),
        ("at: 2, limit: 9, offset: 3", &["inn"]),
        (
            "at: 2, where: {city: {name: {eq: \"Ayr\"}}}, limit: 1",
            &["pub"],
        ),
        ("at: 2, where: {tags: {contains: \"bed\"}}", &["inn"]),
        ("at: 2, limit: 0", &[]),
    ] {
        let answer = same(&kinds, &format!("{{ nearby({arguments}) {{ name }} }}")).await;
        assert_eq!(names(&answer["nearby"]), found, "{arguments}");
    }
    assert_eq!(
        names(&same(&kinds, "{ byName(at: 2) { name } }").await["byName"]),
        ["spa", "pub", "inn", "bar"]
    );
    let answer = same(
        &kinds,
        "{ byName(at: 2, orderBy: [{city: {name: ASC}}]) { name } }",
    )
    .await;
    assert_eq!(names(&answer["byName"]), ["pub", "inn", "spa", "bar"]);
}

#[tokio::test]
async fn relations_of_source_rows_are_read() {
    let kinds = kinds().await;
    let answer = same(
        &kinds,
        "{ nearby(at: 2, limit: 1) { name city { name places(where: {x: {gt: 2}}, orderBy: [{x: DESC}]) { name city { id } } } } }",
    )
    .await;
    let places =
        json!([{ "name": "zoo", "city": { "id": 2 } }, { "name": "spa", "city": { "id": 2 } }]);
    assert_eq!(
        answer["nearby"],
        json!([{ "name": "bar", "city": { "name": "Bonn", "places": places } }])
    );
}

#[tokio::test]
async fn single_rows_and_aggregates_use_the_rows_of_a_source() {
    let kinds = kinds().await;
    let answer = same(
        &kinds,
        "{ nearest(at: 8) { name shout } none: nearest(at: 90) { name } must(at: 4) { name } }",
    )
    .await;
    assert_eq!(
        answer,
        json!({ "nearest": { "name": "zoo", "shout": "ZOO" }, "none": null, "must": { "name": "inn" } })
    );
    let answer = same(
        &kinds,
        "{ sums(at: 2, where: {name: {neq: \"bar\"}}) { count max { x } groups(by: [CITY_ID], orderBy: [{key: {cityId: ASC}}]) { count key { cityId } } } }",
    )
    .await;
    let groups =
        json!([{ "count": 2, "key": { "cityId": 1 } }, { "count": 1, "key": { "cityId": 2 } }]);
    assert_eq!(
        answer["sums"],
        json!({ "count": 3, "max": { "x": 4 }, "groups": groups })
    );
}

#[tokio::test]
async fn cursors_walk_the_rows_of_a_source() {
    let kinds = kinds().await;
    for (kind, app) in kinds.each() {
        for order in [
            "",
            ", orderBy: [{name: DESC}]",
            ", orderBy: [{cityId: ASC}]",
        ] {
            let all = format!(
                "{{ nearby(at: 2, within: 9{}) {{ id name }} }}",
                if order.is_empty() {
                    ", orderBy: [{id: ASC}]"
                } else {
                    order
                }
            );
            let all = app.query(&all).await.data()["nearby"].clone();
            let (mut found, mut after) = (Vec::new(), String::new());
            loop {
                let page = format!(
                    "{{ pages(at: 2, within: 9{order}, first: 2{after}) {{ totalCount nodes {{ id name }} pageInfo {{ hasNextPage endCursor }} }} }}"
                );
                let page = app.query(&page).await.data()["pages"].clone();
                assert_eq!(page["totalCount"], 5);
                found.extend(page["nodes"].as_array().unwrap().iter().cloned());
                if page["pageInfo"]["hasNextPage"] == false {
                    break;
                }
                after = format!(", after: {}", page["pageInfo"]["endCursor"]);
            }
            assert_eq!(Value::from(found), all, "{kind}{order}");
        }
        let last =
            app.query("{ pages(at: 2, within: 9, last: 2) { nodes { id } pageInfo { hasPreviousPage } } }").await;
        assert_eq!(
            last.data()["pages"],
            json!({ "nodes": [{ "id": 4 }, { "id": 5 }], "pageInfo": { "hasPreviousPage": true } })
        );
    }
}

#[tokio::test]
async fn a_root_field_is_one_statement() {
    let database = database().await;
    let app = App::serve(options("columns").database_url(database.url())).await;
    for at in 0..5 {
        app.query(&format!("{{ nearby(at: {at}, where: {{x: {{gt: 1}}}}, limit: {at}) {{ name city {{ name }} }} }}"))
            .await
            .data();
        app.query(&format!(
            "{{ pages(at: {at}, first: 2) {{ totalCount nodes {{ name }} pageInfo {{ hasNextPage }} }} }}"
        ))
        .await
        .data();
    }
    assert_eq!(database.statements("_nearby").await, 10);
}
