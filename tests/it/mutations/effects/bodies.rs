//! Mutations with a body.

use serde_json::json;
use svc_tests::{App, Proxy, Reply};

use super::schema::{app, count, database, error_of, is};

async fn body(app: &App, then: &str) -> Reply {
    let query = "mutation ($title: String!, $then: String!) { body(title: $title, then: $then) { id title } }";
    app.query_with(query, json!({ "title": then, "then": then }))
        .await
}

#[tokio::test]
async fn a_body_that_fails_after_its_commit_reports_done() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    for (index, (then, code)) in [
        ("refuse", "FORBIDDEN"),
        ("unavailable", "NOT_READ"),
        ("panic", "NOT_READ"),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = body(&app, then).await;
        assert_eq!(
            error_of(&reply),
            is(code, "DONE", json!(["body"])),
            "{}",
            reply.text
        );
        assert_eq!(count(&database).await, index as i64 + 1);
    }
    database
        .execute("ALTER VIEW v_post RENAME TO v_hidden")
        .await;
    let reply = body(&app, "read").await;
    assert_eq!(
        error_of(&reply),
        is("NOT_READ", "DONE", json!(["body"])),
        "{}",
        reply.text
    );
}

#[tokio::test]
async fn an_error_of_the_program_keeps_its_code_and_message() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    for (then, mutation, retryable) in [
        ("busy", "DONE", None),
        ("busy early", "NOT_DONE", Some(&json!(true))),
    ] {
        let reply = body(&app, then).await;
        assert_eq!(
            error_of(&reply),
            is("BANK_BUSY", mutation, json!(["body"])),
            "{}",
            reply.text
        );
        assert_eq!(reply.message(), "the bank is busy; try again");
        assert_eq!(
            reply.json()["errors"][0]["extensions"].get("retryable"),
            retryable,
            "{}",
            reply.text
        );
    }
    assert_eq!(count(&database).await, 1);
}

#[tokio::test]
async fn a_body_that_fails_before_its_commit_has_done_nothing() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    for (then, mutation) in [("early", "NOT_DONE"), ("terminate", "NOT_DONE")] {
        let reply = body(&app, then).await;
        assert_eq!(error_of(&reply).1, mutation, "{}", reply.text);
        assert!(!reply.message().contains("may have"), "{}", reply.text);
        assert_eq!(count(&database).await, 0);
    }
    body(&app, "taken").await.data();
    // The constraint is looked at when the transaction is committed.
    let reply = body(&app, "taken").await;
    assert_eq!(error_of(&reply).1, "NOT_DONE", "{}", reply.text);
    assert_eq!(count(&database).await, 1);
}

#[tokio::test]
async fn a_failing_body_that_used_the_pool_has_an_unknown_outcome() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let reply = body(&app, "pool").await;
    assert_eq!(
        error_of(&reply),
        is("OUTCOME_UNKNOWN", "UNKNOWN", json!(["body"])),
        "{}",
        reply.text
    );
}

#[tokio::test]
async fn a_lost_reply_to_a_commit_is_an_unknown_outcome() {
    let database = database().await;
    let proxy = Proxy::new().await;
    let app = app(&proxy.url(&database), false).await;
    body(&app, "first").await.data();
    proxy.lose_answer_to("COMMIT");
    let reply = body(&app, "second").await;
    assert_eq!(
        error_of(&reply),
        is("OUTCOME_UNKNOWN", "UNKNOWN", json!(["body"])),
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 2);
}

#[tokio::test]
async fn a_body_that_fails_after_its_first_call_reports_done() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let reply = app.query(r#"mutation { calls(title: "a") }"#).await;
    assert_eq!(
        error_of(&reply),
        is("NOT_READ", "DONE", json!(["calls"])),
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 1);
    let reply = app.query(r#"mutation { calls(title: "conflict") }"#).await;
    assert_eq!(
        error_of(&reply),
        is("CONFLICT", "NOT_DONE", json!(["calls"])),
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 1);
}
