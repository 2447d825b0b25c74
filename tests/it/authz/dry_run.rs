//! Rules that are tried: the log says what they would deny, and nothing else comes of them.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, Log};

use super::service::{codes, database, options};

async fn tried(request: AuthorizationRequest) -> Result<AuthorizationDecision> {
    match request.operation_name() {
        "note" => Ok(AuthorizationDecision::deny_with("TOO_LATE", "closed")),
        "notes" => Ok(AuthorizationDecision::allow_filtered([("tenant", "a")])),
        "hello" => panic!("the rule is broken"),
        "statistics" => Err(Error::internal("the rule has failed")),
        _ => Ok(AuthorizationDecision::allow()),
    }
}

#[tokio::test]
async fn denials_of_a_dry_run_rule_are_logged_and_not_enforced() {
    let log = Log::everything();
    let database = database().await;
    let app = App::serve(options(&database).dry_run("closing-time", tried)).await;
    let query = "{ note(id: 1) { id } notes { id } hello statistics { count } scoped { id } }";
    let answer = app.query(query).await.data();
    assert_eq!(
        (
            &answer["note"]["id"],
            answer["notes"].as_array().unwrap().len()
        ),
        (&json!(1), 4),
        "{answer}"
    );
    for (operation, why) in [
        ("note", "TOO_LATE"),
        ("notes", "it filters rows"),
        ("hello", "it panicked: the rule is broken"),
        ("statistics", "the rule has failed"),
    ] {
        log.has(&format!(
            "rule=\"closing-time\" kind=query operation=\"{operation}\" why=\"{why}\""
        ))
        .await;
    }
    assert!(!log.text().contains("operation=\"scoped\""));
}

#[tokio::test]
async fn the_authorizer_decides_despite_a_dry_run_rule() {
    let database = database().await;
    let policy = async |request: AuthorizationRequest| request.operation_name() != "note";
    let never = async |_: AuthorizationRequest| std::future::pending::<bool>().await;
    let app = App::serve(
        options(&database)
            .authorizer(policy)
            .dry_run("never", never),
    )
    .await;
    let answer = app.query("{ hello note(id: 1) { id } }").await.json();
    assert_eq!(
        answer["data"],
        json!({ "hello": "world", "note": null }),
        "{answer}"
    );
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
}
