//! Arguments that are input objects.

use serde_json::json;
use svc::prelude::*;

use super::app;

#[svc_input]
pub(super) struct Point {
    x: f64,
    #[svc(default = 2.5)]
    y: f64,
    label: MaybeUndefined<String>,
}

#[svc_input]
pub(super) enum Key {
    Id(i32),
    Name(String),
}

#[svc::query]
pub(super) fn measure(point: Point) -> String {
    format!("{} {} {:?}", point.x, point.y, point.label)
}

#[svc::query]
pub(super) fn find(by: Key) -> String {
    match by {
        Key::Id(id) => format!("id {id}"),
        Key::Name(name) => format!("name {name}"),
    }
}

#[tokio::test]
async fn inputs_have_defaults_and_distinguish_absent_from_null() {
    let app = app().await;
    for (point, answer) in [
        ("{x: 1}", "1 2.5 Undefined"),
        ("{x: 1, y: 3, label: null}", "1 3 Null"),
        ("{y: -1.5, x: 2, label: \"a\"}", "2 -1.5 Value(\"a\")"),
    ] {
        assert_eq!(
            app.query(&format!("{{ measure(point: {point}) }}"))
                .await
                .data()["measure"],
            answer
        );
    }
    let query = "query ($p: Point!) { measure(point: $p) }";
    assert_eq!(
        app.query_with(query, json!({ "p": { "x": 1 } }))
            .await
            .data()["measure"],
        "1 2.5 Undefined"
    );
    let reply = app.query_with(query, json!({ "p": { "x": "one" } })).await;
    assert_eq!(
        reply.message(),
        "variable `$p.x` has an invalid value: `Float` cannot represent the value: \"one\""
    );
    let reply = app
        .query_with(query, json!({ "p": { "x": 1, "z": 1 } }))
        .await;
    assert_eq!(
        reply.message(),
        "variable `$p` has an invalid value: `Point` has no field `z`"
    );
}

#[tokio::test]
async fn one_of_takes_exactly_one() {
    let app = app().await;
    assert_eq!(
        app.query("{ find(by: {name: \"x\"}) }").await.data()["find"],
        "name x"
    );
    for by in ["{}", "{id: 1, name: \"x\"}", "{id: null}"] {
        assert_eq!(
            app.query(&format!("{{ find(by: {by}) }}")).await.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{by}"
        );
    }
    let query = "query ($by: Key!) { find(by: $by) }";
    assert_eq!(
        app.query_with(query, json!({ "by": { "id": 4 } }))
            .await
            .data()["find"],
        "id 4"
    );
    assert_eq!(
        app.query_with(query, json!({ "by": { "id": 4, "name": "x" } }))
            .await
            .code(),
        "BAD_USER_INPUT"
    );
}
