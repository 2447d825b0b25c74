//! Functions called from Rust.

use serde_json::{Value, json};

use super::schema::app;

#[tokio::test]
async fn a_resolver_calls_functions() {
    let (app, database) = app().await;
    database
        .execute("INSERT INTO tb_user (email, full_name) VALUES ('a@b.c', 'Ada')")
        .await;
    let rename = r#"mutation { callRename(email: "a@b.c", name: "Bea") { name loud } }"#;
    assert_eq!(
        app.query(rename).await.data()["callRename"],
        json!({ "name": "Bea", "loud": "BEA" })
    );
    let unknown = app
        .query(r#"mutation { callRename(email: "x", name: "Bea") { name } }"#)
        .await;
    assert_eq!(
        (unknown.code(), unknown.message()),
        ("NOT_FOUND".into(), "there is no such user".into())
    );
    assert_eq!(
        app.query("mutation { a: callAdd(numbers: [1, 2, 3]) b: callAdd(numbers: [1]) }")
            .await
            .data(),
        json!({ "a": 6, "b": 111 })
    );
    let none = app.query("mutation { callAdd(numbers: []) }").await;
    assert_eq!(
        none.code(),
        "INTERNAL_SERVER_ERROR",
        "no overload takes nothing: {}",
        none.text
    );
}

#[tokio::test]
async fn a_resolver_receives_and_returns_mutation_results() {
    let (app, database) = app().await;
    database
        .execute("INSERT INTO tb_user (email, full_name) VALUES ('a@b.c', 'Ada')")
        .await;
    let query = r#"mutation { callResult(email: "a@b.c") {
        __typename ... on DeleteUserSuccess { status } ... on DeleteUserError { status code message errors { identifier } } } }"#;
    assert_eq!(
        app.query(query).await.data()["callResult"],
        json!({ "__typename": "DeleteUserSuccess", "status": "deleted" })
    );
    assert_eq!(
        app.query(query).await.data()["callResult"],
        json!({
            "__typename": "DeleteUserError", "status": "conflict:busy", "code": 409, "message": "noop:absent",
            "errors": [{ "identifier": "busy" }],
        })
    );
    assert_ne!(app.query("{ users { id } }").await.data(), Value::Null);
}
