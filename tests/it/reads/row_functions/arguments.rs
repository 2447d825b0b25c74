//! Arguments of computed fields: what is refused of them, and how the schema shows them.

use serde_json::json;
use svc_tests::{App, agreed};

use super::{column, options, url};

#[tokio::test]
async fn arguments_of_computed_fields_are_validated_and_counted() {
    let url = url().await;
    let ask = async |kind| {
        let app = App::serve(options(kind).database_url(&url)).await;
        let mut said = String::new();
        for query in [
            "{ places { distance } }",
            "{ places { distance(at: 1, scale: 11) } }",
            "{ places(where: {distance: {lt: 1}}) { id } }",
            "{ places(where: {distance: {args: {}, lt: 1}}) { id } }",
            "{ places(where: {distance: {args: {at: 1, scale: 11}, lt: 1}}) { id } }",
            "{ places(where: {secret: {args: {key: \"\\u0000\"}, eq: \"x\"}}) { id } }",
            "{ places(where: {distance: null}) { id } }",
            "{ places(orderBy: [{distance: {direction: ASC}}]) { id } }",
        ] {
            let reply = app.query(query).await;
            assert!(
                ["BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED", "FORBIDDEN"]
                    .contains(&reply.code().as_str()),
                "{}",
                reply.text
            );
            said.push_str(&reply.text);
        }
        said
    };
    agreed("bad values", ["columns", "data", "table"], ask).await;
}

#[tokio::test]
async fn the_schema_shows_fields_filters_and_orders() {
    let app = App::serve(options("columns").database_url(url().await)).await;
    let answer = app
        .query(
            r#"{ filter: __type(name: "PlaceDistanceFilter") { inputFields { name } } args: __type(name: "PlaceDistanceArgs") { inputFields { name type { kind } } }
                 order: __type(name: "PlaceDistanceOrderBy") { inputFields { name defaultValue } } where: __type(name: "PlaceWhere") { inputFields { name type { name } } }
                 mood: __type(name: "PlaceMoodFilter") { inputFields { name type { kind } } } }"#,
        )
        .await
        .data();
    assert_eq!(
        column(&answer["filter"]["inputFields"], "name")[..3],
        ["args", "eq", "neq"]
    );
    assert_eq!(
        answer["args"]["inputFields"],
        json!([{ "name": "at", "type": { "kind": "NON_NULL" } }, { "name": "scale", "type": { "kind": "SCALAR" } }])
    );
    assert_eq!(
        answer["order"]["inputFields"],
        json!([{ "name": "args", "defaultValue": null }, { "name": "direction", "defaultValue": "ASC" }])
    );
    assert_eq!(
        answer["mood"]["inputFields"][0],
        json!({ "name": "args", "type": { "kind": "INPUT_OBJECT" } })
    );
    let fields = answer["where"]["inputFields"].as_array().unwrap();
    let type_of =
        |name| fields.iter().find(|field| field["name"] == name).unwrap()["type"]["name"].clone();
    assert_eq!(
        (type_of("fullName"), type_of("points")),
        (json!("StringFilter"), json!("IntFilter"))
    );
}
