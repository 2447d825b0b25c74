//! Decisions about the arguments of a method, decisions that fail, and decisions with a filter.

use serde_json::json;
use svc::prelude::*;
use svc_tests::Log;

use super::{database, serve};

#[tokio::test]
async fn a_method_is_decided_once_per_arguments() {
    let database = database().await;
    let (app, asked) = serve(&database, |request| {
        Ok((request.argument::<i32>("length")? == 3).into())
    })
    .await;
    let answer = app
        .query("{ members(limit: 1) { a: hint(length: 3) b: hint(length: 4) c: hint(length: 3) } }")
        .await;
    let answer = answer.json();
    assert_eq!(
        answer["data"],
        json!({ "members": [{ "a": "secret", "b": null, "c": "secret" }] }),
        "{answer}"
    );
    let asked = asked.0.lock().unwrap().clone();
    assert_eq!(
        asked,
        [
            "Member.hint(length: 3)",
            "Member.hint(length: 4)",
            "ran 3",
            "ran 3"
        ]
    );
}

#[tokio::test]
async fn a_failing_policy_denies_with_its_own_code() {
    let database = database().await;
    let (app, _) = serve(&database, |_| Err(Error::internal("secret-of-the-policy"))).await;
    let reply = app.query("{ members(limit: 1) { id email } }").await;
    assert_eq!(
        reply.json()["data"],
        json!({ "members": [{ "id": 1, "email": null }] })
    );
    assert_eq!(reply.code(), "FIELD_AUTHORIZATION_ERROR");
    assert!(!reply.text.contains("secret-"), "{}", reply.text);
    let own = |_: &AuthorizationRequest| -> Result<_> {
        Err(Error::with_code("PAY_FIRST", "the trial is over"))
    };
    let (app, _) = serve(&database, own).await;
    let reply = app.query("{ members(limit: 1) { id email } }").await;
    assert_eq!(
        (reply.code(), reply.message()),
        ("PAY_FIRST".into(), "the trial is over".into())
    );
}

#[tokio::test]
async fn a_filter_for_a_field_is_ignored_and_logged() {
    let (log, database) = (Log::start(), database().await);
    let told = "ignored a filter that an authorizer returned for a field";
    let (app, _) = serve(&database, |_| Ok(AuthorizationDecision::allow())).await;
    app.query("{ members(limit: 1) { email } }").await.data();
    assert!(!log.text().contains(told), "{}", log.text());
    let (app, _) = serve(&database, |_| {
        Ok(AuthorizationDecision::allow_filtered([("id", 99)]))
    })
    .await;
    let answer = app.query("{ members(limit: 1) { email } }").await.data();
    assert_eq!(answer, json!({ "members": [{ "email": "secret-1" }] }));
    log.has(told).await;
}
