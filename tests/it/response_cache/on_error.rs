//! Only responses without errors are cached, and they are the same with each `onError`.

use serde_json::{Value, json};

use super::service::{database, options, serve};

#[tokio::test]
async fn requests_with_different_on_error_share_cached_responses() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let ask = async |query: &str, on_error: Value| {
        let reply = app
            .post(&json!({ "query": query, "onError": on_error }))
            .await
            .json();
        (reply["data"].clone(), reply.get("errors").is_some())
    };

    let tick = r#"{ tick(text: "shared") }"#;
    let first = ask(tick, Value::Null).await;
    for on_error in ["NULL", "PROPAGATE", "HALT"] {
        assert_eq!(ask(tick, json!(on_error)).await, first, "{on_error}");
    }
}

#[tokio::test]
async fn a_response_with_an_error_is_for_its_request_alone() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let ask = async |on_error: &str| {
        app.post(&json!({ "query": "{ flaky }", "onError": on_error }))
            .await
            .json()
    };

    // Each other call fails. Requests before this one may have moved the counter.
    let (mut halted, mut answered) = (None, None);
    for _ in 0..3 {
        let reply = ask("HALT").await;
        match reply.get("errors") {
            Some(_) => halted = Some(reply),
            None => answered = Some(reply),
        }
    }

    let answered = answered.expect("a response without errors");
    assert_eq!(ask("NULL").await, answered);
    assert_eq!(ask("PROPAGATE").await, answered);
    if let Some(halted) = halted {
        assert_eq!(halted["data"], Value::Null, "{halted}");
    }
}
