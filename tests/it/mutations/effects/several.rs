//! Several mutations in one document.

use serde_json::{Value, json};

use super::schema::{app, count, database, error_at, is};

#[tokio::test]
async fn each_mutation_reports_its_effect_when_the_data_is_null() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let query = r#"mutation {
        a: plain(title: "a") { id }
        b: loose(title: "conflict") { __typename }
        c: plain(title: "divide") { id }
        d: must(title: "terminate") { id }
        e: plain(title: "e") { id }
    }"#;
    let reply = app.query(query).await;
    assert_eq!(reply.json()["data"], Value::Null);
    let errors = [error_at(&reply, 0), error_at(&reply, 1)];
    let expected = [
        is("INTERNAL_SERVER_ERROR", "NOT_DONE", json!(["c"])),
        is("SERVICE_UNAVAILABLE", "NOT_DONE", json!(["d"])),
    ];
    assert_eq!(errors, expected, "{}", reply.text);
    let mutations =
        json!({ "a": "DONE", "b": "NOT_DONE", "c": "NOT_DONE", "d": "NOT_DONE", "e": "NOT_DONE" });
    assert_eq!(
        reply.json()["extensions"],
        json!({ "mutations": mutations }),
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 1);
}

#[tokio::test]
async fn a_failed_mutation_does_not_affect_the_others() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let query = r#"mutation { a: plain(title: "a") { id } b: plain(title: "divide") { id } c: plain(title: "c") { id } }"#;
    let reply = app.query(query).await;
    assert_eq!(
        error_at(&reply, 0),
        is("INTERNAL_SERVER_ERROR", "NOT_DONE", json!(["b"])),
        "{}",
        reply.text
    );
    let data = reply.json()["data"].clone();
    assert!(
        data["a"].is_object() && data["b"].is_null() && data["c"].is_object(),
        "{data}"
    );
    assert_eq!(count(&database).await, 2);
}
