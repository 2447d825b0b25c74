//! Registered mutations with SQL.

use std::time::Duration;

use serde_json::json;
use svc::authz::RowDecision;
use svc_tests::{App, Proxy, Reply};

use super::schema::{Post, app, count, database, error_at, error_of, is, options};

async fn run(app: &App, name: &str, title: &str) -> Reply {
    app.post(&json!({ "documentId": name, "variables": { "t": title } }))
        .await
}

#[tokio::test]
async fn a_lost_reply_to_a_statement_is_an_unknown_outcome() {
    for (name, has_session, commit) in [
        ("Plain", false, "the lost"),
        ("Plain", true, "COMMIT"),
        ("Result", false, "COMMIT"),
        ("Result", true, "COMMIT"),
    ] {
        let database = database().await;
        let proxy = Proxy::new().await;
        let app = app(&proxy.url(&database), has_session).await;
        run(&app, name, "a").await.data();
        proxy.lose_answer_to(commit);
        let reply = run(&app, name, "the lost").await;
        let (code, mutation, _) = error_of(&reply);
        assert_eq!(
            (code.as_str(), mutation.as_str()),
            ("OUTCOME_UNKNOWN", "UNKNOWN"),
            "{name}: {}",
            reply.text
        );
        assert_eq!(count(&database).await, 2, "{name}");
        run(&app, name, "c").await.data();
    }
    let database = database().await;
    let proxy = Proxy::new().await;
    let app = app(&proxy.url(&database), false).await;
    run(&app, "Result", "a").await.data();
    // The commit was not sent.
    proxy.lose_answer_to("BEGIN");
    let reply = run(&app, "Result", "b").await;
    assert_eq!(error_of(&reply).1, "NOT_DONE", "{}", reply.text);
    assert_eq!(count(&database).await, 1);
}

#[tokio::test]
async fn a_result_that_breaks_its_type_reports_done() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let reply = run(&app, "Broken", "a").await;
    assert_eq!(
        error_of(&reply),
        is("NOT_READ", "DONE", json!(["plain", "id"])),
        "{}",
        reply.text
    );
    assert_eq!(
        reply.json()["data"],
        json!({ "plain": null, "other": { "id": 1 } })
    );
}

#[tokio::test]
async fn a_result_that_fails_undoes_the_statement() {
    for has_session in [false, true] {
        let database = database().await;
        let app = app(&database.url(), has_session).await;
        run(&app, "Result", "a").await.data();
        let reply = run(&app, "Result", "conflict").await;
        assert_eq!(
            reply.json()["data"],
            json!({ "loose": { "code": 409 }, "plain": null })
        );
        assert_eq!(
            error_at(&reply, 0),
            is("NOT_DONE", "NOT_DONE", json!(["plain"])),
            "{}",
            reply.text
        );
        assert_eq!(count(&database).await, 1);
        run(&app, "Result", "b").await.data();
        assert_eq!(count(&database).await, 2);
    }
}

/// A procedure may have committed before it fails, so its statement is found behind comments too.
#[tokio::test]
async fn a_procedure_that_fails_leaves_its_effect_unknown() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let reply = run(&app, "Calls", "a").await;
    assert_eq!(reply.data(), json!({ "plain": { "id": 1 } }));

    let reply = run(&app, "Calls", "f").await;
    assert_eq!(error_of(&reply).1, "UNKNOWN", "{}", reply.text);
    assert_eq!(count(&database).await, 2);
}

/// Under a row policy the SQL is not used, so each mutation is a transaction of its own.
#[tokio::test]
async fn without_their_sql_mutations_commit_one_by_one() {
    let database = database().await;
    let options = options(&database.url()).request_timeout(Duration::from_secs(10));
    let app = App::serve(options.row_policy::<Post>(|_| Ok(RowDecision::allow()))).await;
    // The first mutation has to be done before the request ends.
    app.query("{ posts { id } }").await.data();
    let reply = app.post(&json!({ "documentId": "Three" })).await;
    let effects = json!({ "mutations": { "a": "DONE", "b": "UNKNOWN", "c": "NOT_DONE" } });
    assert_eq!(
        (reply.status, &reply.json()["extensions"]),
        (504, &effects),
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 1);
}
