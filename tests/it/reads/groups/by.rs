//! `by` says what a group is, `key` shows it.

use serde_json::{Value, json};

use super::{app, limited};

#[tokio::test]
async fn the_selection_does_not_change_the_groups() {
    let (_database, app) = app().await;
    let groups = app
        .same("", "{ groups(by: [CHANNEL, CITY]) { count key { city } } }")
        .await;
    let expected = json!([
        { "count": 1, "key": { "city": "Bonn" } }, { "count": 2, "key": { "city": "Ulm" } },
        { "count": 2, "key": { "city": "Bonn" } }, { "count": 1, "key": { "city": null } },
    ]);
    assert_eq!(groups["groups"], expected);
    let groups = app
        .same("", "{ groups(by: [CHANNEL, CITY]) { count } }")
        .await;
    let counts = json!([{ "count": 1 }, { "count": 2 }, { "count": 2 }, { "count": 1 }]);
    assert_eq!(groups["groups"], counts);
    // Two fragments, each with a part of the key.
    let groups =
        app.same("", "{ groups(by: [CITY, CHANNEL]) { key { a: city } key { channel } ... { key { city } } } }").await;
    assert_eq!(groups["groups"][0]["key"]["a"], "Bonn");
    assert_eq!(groups["groups"][0]["key"]["channel"], "SHOP");
    assert_eq!(groups["groups"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn without_by_all_rows_are_one_group() {
    let (_database, app) = app().await;
    for arguments in [
        "",
        "(by: [])",
        "(by: null)",
        "(by: [], orderBy: [{count: DESC}])",
    ] {
        let groups = app
            .same(
                "",
                &format!("{{ groups{arguments} {{ count sum {{ price }} }} }}"),
            )
            .await;
        assert_eq!(
            groups["groups"],
            json!([{ "count": 6, "sum": { "price": "21.50" } }]),
            "{arguments}"
        );
        let none = app
            .same(
                "(where: {id: {gt: 100}})",
                &format!("{{ groups{arguments} {{ count }} }}"),
            )
            .await;
        assert_eq!(none["groups"], json!([{ "count": 0 }]), "{arguments}");
    }
    let none = app
        .same(
            "(where: {id: {gt: 100}})",
            "{ groups(by: [CITY]) { count } }",
        )
        .await;
    assert_eq!(none["groups"], json!([]));
}

/// However many of its values are in the key, a related row is looked for once for each row.
#[tokio::test]
async fn a_relation_is_followed_once() {
    let (database, app) = app().await;
    let ask = "{ groups(by: [SHOP__NAME, SHOP__COUNTRY, SHOP__OPENED_ON, CHANNEL], having: {count: {gt: 0}}, \
               orderBy: [{key: {shop: {name: DESC}}}]) \
               { count key { channel shop { name country openedOn } } } }";
    let groups = app.same("", ask).await;
    let key = |channel: &str, name: Value, country: Value, year: Value| json!({ "channel": channel, "shop": { "name": name, "country": country, "openedOn": year } });
    let expected = json!([
        { "count": 1, "key": key("SHOP", Value::Null, Value::Null, Value::Null) },
        { "count": 1, "key": key("WEB", Value::Null, Value::Null, Value::Null) },
        { "count": 1, "key": key("WEB", json!("Bär"), json!("AT"), Value::Null) },
        { "count": 2, "key": key("SHOP", json!("Adler"), json!("DE"), json!("2020-05-01")) },
        { "count": 1, "key": key("WEB", json!("Adler"), Value::Null, json!("2021-05-01")) },
    ]);
    assert_eq!(groups["groups"], expected);
    for text in database
        .texts("v_sale")
        .await
        .iter()
        .filter(|text| text.contains("GROUP BY"))
    {
        assert_eq!(text.matches("_shop\" AS").count(), 1, "{text}");
    }
}

#[tokio::test]
async fn a_value_listed_twice_counts_once() {
    let (_database, app) = app().await;
    let once = app
        .same("", "{ groups(by: [CITY]) { count key { city } } }")
        .await;
    let twice = app
        .same(
            "",
            "{ groups(by: [CITY, CITY, CITY]) { count key { city } } }",
        )
        .await;
    assert_eq!(once, twice);
    // A single value stands for a list of one.
    assert_eq!(
        once,
        app.same("", "{ groups(by: CITY) { count key { city } } }")
            .await
    );
}

#[tokio::test]
async fn keys_missing_from_by_are_client_errors() {
    let (database, app) = app().await;
    for (groups, message) in [
        (
            "{ key { city } }",
            "`city` is selected of `key` and is not in `by`; add `CITY` there",
        ),
        (
            "(by: [CITY]) { key { city channel } }",
            "`channel` is selected of `key` and is not in `by`; add `CHANNEL` there",
        ),
        (
            "(by: [SOLD_ON]) { key { soldOnMonth } }",
            "`soldOnMonth` is selected of `key` and is not in `by`; add `SOLD_ON_MONTH` there",
        ),
        (
            "(by: [SHOP_ID]) { key { shop { name } } }",
            "`name` is selected of `key` and is not in `by`; add `SHOP__NAME` there",
        ),
        (
            "(orderBy: [{key: {city: ASC}}]) { count }",
            "`city` orders groups and is not in `by`; add `CITY` there",
        ),
        (
            "(by: [CITY], orderBy: [{key: {shop: {country: ASC}}}]) { count }",
            "`country` orders groups and is not in `by`; add `SHOP__COUNTRY` there",
        ),
    ] {
        for root in ["columns", "resolved"] {
            let reply = app
                .query(&format!("{{ {root} {{ groups{groups} }} }}"))
                .await;
            assert_eq!(
                (reply.code().as_str(), reply.message().as_str()),
                ("BAD_USER_INPUT", message),
                "{groups}"
            );
        }
    }
    assert_eq!(
        database.statements("_sale\"").await,
        0,
        "it is decided before SQL"
    );
    for by in [
        "META",
        "SHOP__META",
        "SHOP",
        "SHOP__OPENED_ON_YEAR",
        "PAID_YEAR",
        "SOLD_ON_HOUR",
        "city",
    ] {
        let reply = app
            .query(&format!(
                "{{ columns {{ groups(by: [{by}]) {{ count }} }} }}"
            ))
            .await;
        assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{by}");
    }
}

#[tokio::test]
async fn rows_are_grouped_by_their_related_row() {
    let (database, app) = app().await;
    let groups = app
        .same(
            "",
            "{ groups(by: [SHOP__NAME], orderBy: [{count: DESC}]) { count key { shop { name } } sum { pieces } } }",
        )
        .await;
    let group = |count: i32, name: Option<&str>, pieces: Option<i32>| json!({ "count": count, "key": { "shop": { "name": name } }, "sum": { "pieces": pieces } });
    assert_eq!(
        groups["groups"],
        json!([
            group(3, Some("Adler"), Some(6)),
            group(2, None, Some(7)),
            group(1, Some("Bär"), None)
        ])
    );
    let groups = app
        .same(
            "(where: {pieces: {gte: 0}})",
            "{ groups(by: [SHOP__COUNTRY, PAID, SHOP__OPENED_ON], orderBy: [{key: {shop: {country: DESC_NULLS_LAST}, paid: ASC}}]) {
                 key { paid shop { country at: openedOn } } count } }",
        )
        .await;
    let group = |paid: bool, country: Option<&str>, at: Option<&str>| json!({ "key": { "paid": paid, "shop": { "country": country, "at": at } }, "count": 1 });
    assert_eq!(
        groups["groups"],
        json!([
            group(false, Some("DE"), Some("2020-05-01")),
            group(true, Some("DE"), Some("2020-05-01")),
            group(false, None, Some("2021-05-01")),
            group(false, None, None),
            group(true, None, None),
        ])
    );
    let before = database.statements("\"c_sale\"").await;
    app.query(
        "{ columns { count groups(by: [SHOP__NAME, CITY]) { key { shop { name } } count } } }",
    )
    .await
    .data();
    assert_eq!(database.statements("\"c_sale\"").await, before + 1);
}

#[tokio::test]
async fn resolvers_group_like_planned_reads() {
    let (_database, app) = app().await;
    let document = "query ($by: [TableSaleGroupBy!], $h: TableSaleGroupHaving) { resolved(where: {id: {lt: 6}}) {
        countDistinct { city }
        groups(by: $by, having: $h, orderBy: [{countDistinct: {id: DESC}}, {key: {soldAtYear: ASC}}]) {
            key { soldAtYear shop { name } } count } } }";
    let variables =
        json!({ "by": ["SOLD_AT_YEAR", "SHOP__NAME"], "h": { "sum": { "pieces": { "gt": 1 } } } });
    let answer = app.query_with(document, variables).await.data();
    let group = |count: i32, name: Option<&str>| json!({ "key": { "soldAtYear": "2024-01-01T00:00:00Z", "shop": { "name": name } }, "count": count });
    assert_eq!(
        answer["resolved"],
        json!({ "countDistinct": { "city": 2 }, "groups": [group(2, Some("Adler")), group(1, None)] })
    );
    let reply = app
        .query_with(document, json!({ "by": ["SHOP__NAME"] }))
        .await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
}

#[tokio::test]
async fn group_keys_count_towards_the_limits() {
    let (_database, app) =
        limited(|limits| (limits.order_keys, limits.hops, limits.comparisons) = (3, 1, 2)).await;
    let by = "query ($by: [ColumnSaleGroupBy!]) { columns { groups(by: $by) { count } } }";
    for (document, variables, message) in [
        (
            "{ columns { groups(by: [CITY, PAID, ID, PRICE]) { count } } }",
            json!({}),
            "4 keys in its orders and groups",
        ),
        (
            by,
            json!({ "by": ["CITY", "PAID", "ID", "PRICE"] }),
            "4 keys in its orders and groups",
        ),
        (
            "{ columns { countDistinct { city paid id price } } }",
            json!({}),
            "4 keys in its orders and groups",
        ),
        (
            by,
            json!({ "by": ["SHOP__ID", "SHOP__NAME"] }),
            "have 2 hops",
        ),
        (
            "{ columns { groups(having: {count: {gt: 1, lt: 9, neq: 4}}) { count } } }",
            json!({}),
            "has 3 comparisons",
        ),
    ] {
        let reply = app.query_with(document, variables).await;
        assert_eq!(
            reply.code(),
            "QUERY_TOO_COMPLEX",
            "{document}: {}",
            reply.text
        );
        assert!(
            reply.message().contains(message),
            "{document}: {}",
            reply.text
        );
    }
    app.query_with(by, json!({ "by": ["CITY", "PAID", "SHOP__ID"] }))
        .await
        .data();
    app.query("{ columns { groups(by: [CITY], having: {count: {gt: 1, lt: 9}}) { count } } }")
        .await
        .data();
}
