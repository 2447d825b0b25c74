//! Failures: declared errors reach the client, and others are masked.

use serde_json::{Value, json};
use svc_tests::Reply;

use super::schema::app;

const ERROR: &str = "{ __typename ... on AnswerError { status code message errors { code identifier message details } } }";

/// Each prefix has its code, on an Error member and on a GraphQL error.
#[tokio::test]
async fn each_kind_of_failure_has_its_code() {
    let (app, _database) = app().await;
    for (status, code, error, identifier) in [
        ("failed:", 422, "BAD_USER_INPUT", "failed"),
        ("failed:out_of_stock", 422, "BAD_USER_INPUT", "out_of_stock"),
        ("failed:not_found_user", 404, "NOT_FOUND", "not_found_user"),
        ("failed:internal", 500, "INTERNAL_SERVER_ERROR", "internal"),
        ("validation:email", 422, "BAD_USER_INPUT", "email"),
        ("unauthorized:token", 401, "UNAUTHENTICATED", "token"),
        ("forbidden:", 403, "FORBIDDEN", "forbidden"),
        ("not_found", 404, "NOT_FOUND", "not_found"),
        ("CONFLICT:taken", 409, "CONFLICT", "taken"),
        ("timeout:bank", 408, "TIMEOUT", "bank"),
        ("noop:unchanged", 422, "BAD_USER_INPUT", "unchanged"),
    ] {
        let variables = json!({ "answer": { "status": status, "message": "why", "entity": null } });
        let query = format!("mutation ($answer: JSON!) {{ answer(answer: $answer) {ERROR} }}");
        let one =
            json!({ "code": code, "identifier": identifier, "message": "why", "details": null });
        assert_eq!(
            app.query_with(&query, variables.clone()).await.data()["answer"],
            json!({ "__typename": "AnswerError", "status": status, "code": code, "message": "why", "errors": [one.clone()] })
        );
        let reply = app
            .query_with(
                "mutation ($answer: JSON!) { answerUser(answer: $answer) { name } }",
                variables,
            )
            .await;
        assert_eq!(
            (reply.code().as_str(), reply.message().as_str()),
            (error, "why"),
            "{status}"
        );
        let extensions =
            json!({ "code": error, "status": status, "errors": [one], "mutation": "NOT_DONE" });
        assert_eq!(reply.json()["errors"][0]["extensions"], extensions);
        assert_eq!(reply.json()["data"], json!({ "answerUser": null }));
    }
}

/// An unknown status is not a success, whatever the return type is.
#[tokio::test]
async fn an_unknown_status_is_never_a_success() {
    let (app, _database) = app().await;
    for status in [
        json!("done"),
        json!("create"),
        json!("updated:name"),
        json!(""),
        json!(null),
        json!(true),
        json!({}),
    ] {
        let variables =
            json!({ "answer": { "status": status, "message": "a secret", "entity": { "id": 1 } } });
        for field in [
            "answer(answer: $answer) { __typename }",
            "answerUser(answer: $answer) { __typename }",
        ] {
            let reply = app
                .query_with(
                    &format!("mutation ($answer: JSON!) {{ {field} }}"),
                    variables.clone(),
                )
                .await;
            is_masked(&reply);
        }
    }
    is_masked(
        &app.query(r#"mutation { fail(how: "null") { __typename } }"#)
            .await,
    );
}

/// An exception that a function raises reaches the client with its hint, without its details.
#[tokio::test]
async fn a_raised_exception_keeps_its_message() {
    let (app, _database) = app().await;
    let reply = app
        .query(&format!(r#"mutation {{ fail(how: "raise") {ERROR} }}"#))
        .await;
    let one = json!({ "code": 422, "identifier": "raised", "message": "the shop is closed", "details": { "hint": "come back at nine" } });
    assert_eq!(
        reply.data()["fail"],
        json!({ "__typename": "AnswerError", "status": "failed:raised", "code": 422, "message": "the shop is closed", "errors": [one] })
    );
    let plain = app
        .query(r#"mutation { failPlain(how: "raise") { name } }"#)
        .await;
    assert_eq!(
        (plain.code(), plain.message()),
        ("BAD_USER_INPUT".into(), "the shop is closed".into())
    );
    assert!(
        !plain.text.contains("tb_secret") && !reply.text.contains("tb_secret"),
        "{}",
        plain.text
    );
}

/// A constraint shows its declared message, or nothing.
#[tokio::test]
async fn constraints_show_their_declared_message() {
    let (app, database) = app().await;
    database
        .execute("INSERT INTO tb_user (email, full_name) VALUES ('a@b.c', 'Ada')")
        .await;
    let query = r#"mutation { createUser(input: {email: "a@b.c", fullName: "Ada"}) {
        ... on CreateUserError { status code message errors { identifier details } } } }"#;
    assert_eq!(
        app.query(query).await.data()["createUser"],
        json!({
            "status": "conflict:email_taken", "code": 409, "message": "this email is taken",
            "errors": [{ "identifier": "email_taken", "details": { "field": "email" } }],
        })
    );
    let query = r#"mutation { createUserOnly(input: {email: "a@b.c", fullName: "Ada"}) { name } }"#;
    assert_eq!(app.query(query).await.code(), "CONFLICT");
    let reply = app
        .query(&format!(r#"mutation {{ fail(how: "check") {ERROR} }}"#))
        .await;
    assert_eq!(reply.data()["fail"]["code"], 422);
    assert_eq!(
        reply.data()["fail"]["errors"][0]["identifier"],
        "tb_user_age_check"
    );
    for how in ["secret", "divide"] {
        is_masked(
            &app.query(&format!(r#"mutation {{ fail(how: "{how}") {ERROR} }}"#))
                .await,
        );
        is_masked(
            &app.query(&format!(
                r#"mutation {{ failPlain(how: "{how}") {{ name }} }}"#
            ))
            .await,
        );
    }
    let secret = r#"mutation { createUser(input: {email: "b", fullName: "B", secret: "leak"}) { __typename } }"#;
    is_masked(&app.query(secret).await);
}

/// A function that fails leaves nothing behind, and the next mutation runs.
#[tokio::test]
async fn a_failed_call_changes_nothing() {
    let (app, _database) = app().await;
    let query = r#"mutation {
        fail(how: "check") { __typename }
        failPlain(how: "raise") { name }
        counted
        createUser(input: {email: "b", fullName: "B"}) { __typename }
    }"#;
    let reply = app.query(query).await.json();
    assert_eq!(
        reply["data"],
        json!({
            "fail": { "__typename": "AnswerError" }, "failPlain": null, "counted": 0,
            "createUser": { "__typename": "CreateUserSuccess" },
        })
    );
}

/// A connection that PostgreSQL ends in the middle of a call is not a reason to call again. The
/// call is undone.
#[tokio::test]
async fn a_lost_call_is_not_sent_again() {
    let (app, database) = app().await;
    database
        .execute(
            "CREATE SEQUENCE calls; \
             CREATE OR REPLACE FUNCTION app.counted() RETURNS bigint LANGUAGE sql AS \
             $$ SELECT nextval('calls'); SELECT pg_terminate_backend(pg_backend_pid()); SELECT 1::bigint $$",
        )
        .await;
    let reply = app.query("mutation { counted }").await;
    assert_eq!(reply.code(), "SERVICE_UNAVAILABLE", "{}", reply.text);
    assert!(
        reply.message().ends_with("; the mutation was not done"),
        "{}",
        reply.text
    );
    let pool = database.pool().await;
    let calls: i64 = sqlx::query_scalar("SELECT last_value FROM calls")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(calls, 1);
}

/// Connections that died while they were idle cost no mutation.
#[tokio::test]
async fn a_dead_connection_of_the_pool_is_replaced() {
    let (app, database) = app().await;
    app.query("mutation { a: counted b: counted }").await.data();
    let pool = database.pool().await;
    let killed: Vec<(bool,)> = sqlx::query_as(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert!(!killed.is_empty());
    assert_eq!(app.query("mutation { counted }").await.data()["counted"], 0);
}

fn is_masked(reply: &Reply) {
    assert_eq!(
        (reply.message().as_str(), reply.code().as_str()),
        ("internal server error", "INTERNAL_SERVER_ERROR")
    );
    assert!(
        reply.json()["errors"][0]["extensions"]["errorId"].is_string(),
        "{}",
        reply.text
    );
    assert!(
        reply.json()["data"].is_null() || reply.json()["data"]["answerUser"] == Value::Null,
        "{}",
        reply.text
    );
    for leak in ["tb_user", "secret", "division", "INSERT", "SELECT", "app."] {
        assert!(!reply.text.contains(leak), "{leak} in {}", reply.text);
    }
}
