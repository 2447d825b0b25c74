//! Fields, values and mutations that fail.

use serde_json::{Value, json};
use svc::prelude::*;

use super::app;

#[svc::query]
pub(super) fn grid() -> Vec<Vec<Option<f64>>> {
    vec![vec![Some(1.0), None], vec![], vec![Some(f64::NAN)]]
}

static COUNTER: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);

#[svc::mutation]
pub(super) async fn add(by: i32) -> Result<i32> {
    tokio::task::yield_now().await;
    if by < 0 {
        return Err(
            Error::with_code("TOO_SMALL", "give a number from 0").with_extension("least", 0)
        );
    }
    Ok(COUNTER.fetch_add(by, std::sync::atomic::Ordering::SeqCst) + by)
}

#[tokio::test]
async fn a_failing_field_is_null_where_that_is_allowed() {
    let reply = app().await.query("{ one { name broken } }").await.json();
    assert_eq!(
        reply["data"],
        json!({ "one": { "name": "Tom", "broken": null } })
    );
    assert_eq!(
        reply["errors"],
        json!([{
            "message": "broken as declared",
            "locations": [{ "line": 1, "column": 14 }],
            "path": ["one", "broken"],
            "extensions": { "code": "BAD_USER_INPUT" },
        }])
    );
}

/// Of resolvers; through lists and objects.
#[tokio::test]
async fn null_propagates_to_the_nearest_nullable_field() {
    let app = app().await;
    let reply = app
        .query("{ cats { id veryBroken } one { id } }")
        .await
        .json();
    assert_eq!(
        reply["data"],
        json!({ "cats": [null, null, null], "one": { "id": 1 } })
    );
    let paths: Vec<_> = reply["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].clone())
        .collect();
    assert_eq!(
        paths,
        [
            json!(["cats", 0, "veryBroken"]),
            json!(["cats", 2, "veryBroken"])
        ]
    );
    let reply = app.query("{ one { veryBroken } }").await.json();
    assert_eq!(reply["data"], Value::Null);
}

#[tokio::test]
async fn undeclared_errors_are_masked_under_an_error_id() {
    let app = app().await;
    for query in ["{ one { veryBroken } }", "{ one { panics } }"] {
        let reply = app.query(query).await;
        assert_eq!(
            (reply.message().as_str(), reply.code().as_str()),
            ("internal server error", "INTERNAL_SERVER_ERROR")
        );
        assert!(reply.json()["errors"][0]["extensions"]["errorId"].is_string());
        assert!(
            !reply.text.contains("secret") && !reply.text.contains("digit"),
            "{}",
            reply.text
        );
    }
}

#[tokio::test]
async fn a_number_that_json_lacks_is_an_error() {
    let reply = app().await.query("{ grid }").await.json();
    assert_eq!(reply["data"]["grid"], json!([[1, null], [], [null]]));
    assert_eq!(reply["errors"][0]["path"], json!(["grid", 2, 0]));
}

#[tokio::test]
async fn mutations_run_in_order_and_end_at_a_failure_that_reaches_the_root() {
    let app = app().await;
    let reply = app
        .query("mutation { a: add(by: 1) b: add(by: 10) c: add(by: -1) d: add(by: 100) }")
        .await
        .json();
    assert_eq!(reply["data"], Value::Null);
    assert_eq!(
        reply["errors"][0]["extensions"],
        json!({ "code": "TOO_SMALL", "least": 0, "mutation": "NOT_DONE" })
    );
    assert_eq!(reply["errors"][0]["path"], json!(["c"]));
    assert_eq!(
        app.query("mutation { a: add(by: 0) b: add(by: 5) }")
            .await
            .data(),
        json!({ "a": 11, "b": 16 })
    );
}
