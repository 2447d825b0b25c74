//! The mutations of one document with `onError`.

use serde_json::{Value, json};
use svc_tests::{App, Reply};

use super::schema::{app, count, database, error_at, is};

const THREE: &str = r#"mutation {
    a: plain(title: "a") { id }
    b: plain(title: "divide") { id }
    c: plain(title: "c") { id }
}"#;

async fn ask(app: &App, query: &str, on_error: &str) -> Reply {
    app.post(&json!({ "query": query, "onError": on_error }))
        .await
}

/// The only error of a reply, as of [`error_at`].
fn only_error(reply: &Reply) -> (String, String, Value) {
    let json = reply.json();
    assert_eq!(
        json["errors"].as_array().map(Vec::len),
        Some(1),
        "{}",
        reply.text
    );
    error_at(reply, 0)
}

#[tokio::test]
async fn halt_runs_no_further_mutation_and_reports_each_effect() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let reply = ask(&app, THREE, "HALT").await;
    assert_eq!(
        only_error(&reply),
        is("INTERNAL_SERVER_ERROR", "NOT_DONE", json!(["b"]))
    );
    assert_eq!(reply.json()["data"], Value::Null);
    let effects = json!({ "a": "DONE", "b": "NOT_DONE", "c": "NOT_DONE" });
    assert_eq!(
        reply.json()["extensions"],
        json!({ "mutations": effects }),
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 1);
}

/// The mutation is done, and only its result has an error.
#[tokio::test]
async fn halt_reports_a_mutation_as_done_if_its_result_has_an_error() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let body = r#"mutation {
        a: body(title: "a", then: "refuse") { id }
        b: plain(title: "b") { id }
    }"#;
    let reply = ask(&app, body, "HALT").await;
    assert_eq!(
        only_error(&reply),
        is("FORBIDDEN", "DONE", json!(["a"])),
        "{}",
        reply.text
    );
    let effects = json!({ "a": "DONE", "b": "NOT_DONE" });
    assert_eq!(reply.json()["extensions"], json!({ "mutations": effects }));
    assert_eq!(count(&database).await, 1);
}

#[tokio::test]
async fn null_runs_all_mutations() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let query = r#"mutation {
        a: plain(title: "a") { id }
        d: must(title: "divide") { id }
        e: plain(title: "e") { id }
    }"#;
    let reply = ask(&app, query, "NULL").await;
    let json = reply.json();
    assert_eq!(
        only_error(&reply),
        is("INTERNAL_SERVER_ERROR", "NOT_DONE", json!(["d"]))
    );
    let data = &json["data"];
    assert!(
        data["a"].is_object() && data["d"].is_null() && data["e"].is_object(),
        "{}",
        reply.text
    );
    assert!(json.get("extensions").is_none(), "{}", reply.text);
    assert_eq!(count(&database).await, 2);

    // With propagation, the null reaches the root, and the mutation after it does not run.
    let query = query.replace("\"a\"", "\"f\"").replace("\"e\"", "\"g\"");
    let reply = ask(&app, &query, "PROPAGATE").await;
    assert_eq!(reply.json()["data"], Value::Null);
    assert_eq!(count(&database).await, 3);
}

/// All fields of a registered mutation with SQL are one transaction.
#[tokio::test]
async fn halt_keeps_nothing_of_a_statement_that_is_undone() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let run = async |title: &str| {
        let body =
            json!({ "documentId": "Result", "variables": { "t": title }, "onError": "HALT" });
        app.post(&body).await
    };
    run("a").await.data();
    let reply = run("conflict").await;
    assert_eq!(
        only_error(&reply),
        is("NOT_DONE", "NOT_DONE", json!(["plain"]))
    );
    assert_eq!(reply.json()["data"], Value::Null);
    let effects = json!({ "loose": "NOT_DONE", "plain": "NOT_DONE" });
    assert_eq!(
        reply.json()["extensions"],
        json!({ "mutations": effects }),
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 1);
}
