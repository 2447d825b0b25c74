//! Guards on the JSON of results, which may contain gated fields of the entity as well.

use serde_json::{Value, json};
use svc::prelude::*;

use super::super::principals::{ask_as, serve};
use super::super::service::codes;
use super::{Asked, Member, Policy, database, members};

#[svc_result]
enum Noted {
    Success {
        member: Option<Member>,
        #[svc::requires_role("clerk")]
        metadata: Option<Value>,
        #[svc::requires_role("clerk")]
        cascade: Option<Value>,
    },
    Error {},
}

#[svc::mutation(function = "app.change")]
async fn note(member_id: i32) -> Noted;

fn refuses(request: &AuthorizationRequest) -> Result<AuthorizationDecision> {
    Ok(match request.operation_name().starts_with("Member.") {
        true => AuthorizationDecision::deny(),
        false => AuthorizationDecision::allow(),
    })
}

fn allows(_: &AuthorizationRequest) -> Result<AuthorizationDecision> {
    Ok(AuthorizationDecision::allow())
}

/// The answer to a clerk or to a user without roles.
async fn answer(
    decide: fn(&AuthorizationRequest) -> Result<AuthorizationDecision>,
    user: &str,
) -> Value {
    let database = database().await;
    let asked = Asked::default();
    let options = AppOptions::new()
        .database_url(database.url())
        .data(asked.clone())
        .queries(queries![members])
        .mutations(mutations![note])
        .authorizer(Policy(asked, decide));
    let app = serve(options).await;
    let query =
        "mutation { note(member_id: 1) { ... on NotedSuccess { status metadata cascade } } }";
    ask_as(&app, "/graphql", user, query, &json!({})).await
}

#[tokio::test]
async fn a_guard_and_the_gates_of_the_entity_both_decide() {
    let denied = json!({ "status": "updated", "metadata": null, "cascade": null });
    let found = answer(refuses, "ada;clerk").await;
    assert_eq!(found["data"]["note"], denied, "{found}");
    assert_eq!(codes(&found), ["FORBIDDEN"; 2]);

    let found = answer(allows, "ada").await;
    assert_eq!(found["data"]["note"], denied, "{found}");
    assert_eq!(codes(&found), ["FORBIDDEN"; 2]);

    let found = answer(allows, "ada;clerk").await;
    let told = json!({ "status": "updated", "metadata": "secret-m", "cascade": "secret-c" });
    assert_eq!(found["data"]["note"], told, "{found}");
}
