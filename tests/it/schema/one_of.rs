//! Introspection says which input objects are `@oneOf`.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_input]
enum Key {
    Id(i32),
    Slug(String),
}

#[svc_input]
struct Range {
    from: i32,
}

#[svc::query]
fn find(by: Key, range: Option<Range>) -> String {
    let by = match by {
        Key::Id(id) => id.to_string(),
        Key::Slug(slug) => slug,
    };
    format!("{by} {:?}", range.map(|range| range.from))
}

#[tokio::test]
async fn introspection_marks_one_of_types() {
    let url = TestDatabase::empty().await;
    let app = App::serve(AppOptions::new().database_url(url).queries(queries![find])).await;
    let document = r#"query Types($skip: Boolean = true) {
        key: __type(name: "Key") { ...Shown more: isOneOf @skip(if: $skip) }
        range: __type(name: "Range") { kind isOneOf name }
        string: __type(name: "String") { ... on __Type { isOneOf } }
        query: __type(name: "Query") { fields { args { type { ofType { isOneOf name } isOneOf } } } }
        __schema { queryType { isOneOf } }
    }
    fragment Shown on __Type { isOneOf again: isOneOf name }"#;
    let query = json!({ "fields": [{ "args": [
        { "type": { "ofType": { "isOneOf": true, "name": "Key" }, "isOneOf": null } },
        { "type": { "ofType": null, "isOneOf": false } },
    ] }] });
    let expected = json!({
        "key": { "isOneOf": true, "again": true, "name": "Key" },
        "range": { "kind": "INPUT_OBJECT", "isOneOf": false, "name": "Range" },
        "string": { "isOneOf": null },
        "query": query,
        "__schema": { "queryType": { "isOneOf": null } },
    });
    let reply = app.query(document).await;
    assert_eq!(reply.data().to_string(), expected.to_string());
    let listed = app
        .query(r#"{ __type(name: "__Type") { fields { name } } }"#)
        .await
        .data();
    assert!(
        listed["__type"]["fields"]
            .as_array()
            .unwrap()
            .contains(&json!({ "name": "isOneOf" })),
        "{listed}"
    );
    assert_eq!(
        app.query("{ find(by: { id: 1, slug: \"a\" }) }")
            .await
            .code(),
        "GRAPHQL_VALIDATION_FAILED"
    );
}
