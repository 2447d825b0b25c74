//! `@defer` and `@stream`, which other servers have.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc::query]
fn numbers() -> Vec<i32> {
    vec![1, 2]
}

#[tokio::test]
async fn directives_of_incremental_delivery_are_named_as_not_supported() {
    let url = TestDatabase::empty().await;
    let app = App::serve(
        AppOptions::new()
            .database_url(url)
            .queries(queries![numbers]),
    )
    .await;
    for (name, query) in [
        ("defer", "{ ... @defer { numbers } }"),
        ("defer", "{ ... @defer(label: \"late\") { numbers } }"),
        ("stream", "{ numbers @stream(initialCount: 1) }"),
    ] {
        let reply = app.query(query).await;
        let message =
            format!("the directive `@{name}` is not supported; the response is sent as a whole");
        assert_eq!(
            (reply.code().as_str(), reply.message()),
            ("GRAPHQL_VALIDATION_FAILED", message),
            "{query}"
        );
        let errors = reply.json()["errors"].clone();
        assert_eq!(errors.as_array().map(Vec::len), Some(1), "{errors}");
        let column = query.find('@').unwrap() + 1;
        assert_eq!(
            errors[0]["locations"],
            json!([{ "line": 1, "column": column }]),
            "{query}"
        );
    }

    let other = app.query("{ numbers @later }").await;
    assert!(!other.message().contains("not supported"), "{}", other.text);
}
