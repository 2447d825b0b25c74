//! Gated fields on ways without functions of the program, and in results of mutations.

use serde_json::{Value, json};

use super::super::service::{ask_rust, codes};
use super::{CACHED, database, denies, serve};

#[tokio::test]
async fn paths_that_bypass_functions_refuse_the_whole_document() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    for answer in [
        app.query(CACHED).await.json(),
        ask_rust(&app, "{ members { id email } page { total_count } }").await,
        ask_rust(&app, "{ members(order_by: [{ email: ASC }]) { id } }").await,
    ] {
        assert_eq!(answer["data"], Value::Null, "{answer}");
        assert!(
            codes(&answer)
                .iter()
                .all(|code| *code == "FIELD_AUTHORIZATION_ERROR"),
            "{answer}"
        );
        assert_eq!(
            answer["errors"][0]["extensions"]["field"], "Member.email",
            "{answer}"
        );
    }
    assert_eq!(
        database.statements("FROM v_member").await + database.statements("FROM \"v_member\"").await,
        0
    );
    let answer = ask_rust(&app, "{ members { id } }").await;
    assert_eq!(
        answer,
        json!({ "data": { "members": [{ "id": 1 }, { "id": 2 }] } })
    );
}

/// A mutation is undone if a required part of its result is denied, as its result cannot be
/// returned.
#[tokio::test]
async fn results_of_mutations_are_gated() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    let changes = async || database.pool().await;
    let change =
        "mutation { change(member_id: 1) { ... on ChangedSuccess { member { id email } } } }";
    let answer = app.query(change).await.json();
    assert_eq!(
        answer["data"],
        json!({ "change": { "member": { "id": 1, "email": null } } }),
        "{answer}"
    );
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    for document in ["metadata", "cascade"] {
        let change = format!(
            "mutation {{ change(member_id: 1) {{ ... on ChangedSuccess {{ status {document} }} }} }}"
        );
        let reply = app.query(&change).await;
        assert_eq!(
            (reply.code().as_str(), reply.text.contains("secret-")),
            ("FORBIDDEN", false),
            "{}",
            reply.text
        );
    }
    let change =
        "mutation { change(member_id: 1) { ... on ChangedSuccess { member { id token } } } }";
    let answer = app.query(change).await.json();
    assert_eq!(
        answer["errors"][0]["extensions"]["mutation"], "NOT_DONE",
        "{answer}"
    );
    let done: i64 = svc::sqlx::query_scalar("SELECT count(*) FROM tb_changes")
        .fetch_one(&changes().await)
        .await
        .unwrap();
    assert_eq!(done, 3);
}
