//! The authorizer of one operation decides in place of the application's; ways that pass the
//! function by ask both.

use serde_json::json;
use svc::authz::Authorizer;
use svc::prelude::*;
use svc::{Operation, OperationsConfig};
use svc_tests::{App, TestDatabase};

use super::service::{Note, ask_rust, codes, database};

async fn insiders(request: AuthorizationRequest) -> bool {
    request.context().header("x-inside").is_some()
}

/// One that waits for nothing need not be `async`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "an authorizer takes its request"
)]
fn insiders_at_once(request: AuthorizationRequest) -> bool {
    request.context().header("x-inside").is_some()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "an authorizer takes its request"
)]
fn decided_at_once(request: AuthorizationRequest) -> Result<AuthorizationDecision> {
    match request.context().header("x-inside") {
        Some(_) => Ok(AuthorizationDecision::allow()),
        None => Ok(AuthorizationDecision::deny_with("OUTSIDE", "come in")),
    }
}

struct First;

impl Authorizer for First {
    async fn authorize_operation(&self, _: AuthorizationRequest) -> Result<AuthorizationDecision> {
        Ok(AuthorizationDecision::allow_where(col("id").eq(1)))
    }
}

#[svc::query(authorizer = insiders)]
async fn secrets() -> Vec<Note>;
#[svc::query(authorizer = First)]
async fn first() -> Vec<Note>;
#[svc::query(authorizer = insiders)]
fn number() -> i32 {
    7
}
#[svc::query(authorizer = insiders_at_once)]
fn number_at_once() -> i32 {
    7
}
#[svc::query(authorizer = decided_at_once)]
fn decided() -> i32 {
    7
}
#[svc::query]
async fn open() -> Vec<Note>;
#[svc::mutation(authorizer = insiders)]
fn touch() -> bool {
    true
}

const CACHED: &str = "query Secrets { secrets { id } }";

fn options(database: &TestDatabase) -> AppOptions {
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let config = SvcConfig {
        operations,
        ..SvcConfig::default()
    };
    let cached =
        Operation::new(CACHED).sql("SELECT jsonb_agg(v_note ORDER BY id) AS secrets FROM v_note");
    AppOptions::new()
        .config(config)
        .database_url(database.url())
        .queries(queries![
            secrets,
            first,
            number,
            number_at_once,
            decided,
            open
        ])
        .mutations(mutations![touch])
        .operations([cached])
}

#[tokio::test]
async fn an_operation_authorizer_decides_without_an_application_authorizer() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    for query in [
        "{ secrets { id } }",
        "{ number }",
        "mutation { touch }",
        CACHED,
    ] {
        assert_eq!(app.query(query).await.code(), "FORBIDDEN", "{query}");
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let reply = app
            .send(
                request
                    .header("x-inside", "1")
                    .body(json!({ "query": query }).to_string()),
            )
            .await;
        assert!(
            reply.json().get("errors").is_none(),
            "{query}: {}",
            reply.text
        );
    }
    assert_eq!(
        codes(&ask_rust(&app, "{ secrets { id } }").await),
        ["FORBIDDEN"]
    );
    assert_eq!(
        app.query("{ first { id } }").await.data(),
        json!({ "first": [{ "id": 1 }] })
    );
    assert_eq!(
        app.query("{ open { id } }").await.data()["open"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
}

#[tokio::test]
async fn an_operation_authorizer_precedes_that_of_the_application() {
    let database = database().await;
    let app =
        App::serve(options(&database).authorizer(async |_: AuthorizationRequest| false)).await;
    assert_eq!(
        app.query("{ first { id } }").await.data(),
        json!({ "first": [{ "id": 1 }] })
    );
    assert_eq!(app.query("{ open { id } }").await.code(), "FORBIDDEN");
    assert_eq!(
        codes(&ask_rust(&app, "{ first { id } }").await),
        ["FORBIDDEN"],
        "both are asked here"
    );
}

#[tokio::test]
async fn authorizers_can_be_synchronous() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    assert_eq!(app.query("{ number_at_once }").await.code(), "FORBIDDEN");
    assert_eq!(app.query("{ decided }").await.code(), "OUTSIDE");
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-inside", "1");
    let reply = app
        .send(request.body(json!({ "query": "{ number_at_once decided }" }).to_string()))
        .await;
    assert_eq!(reply.data(), json!({ "number_at_once": 7, "decided": 7 }));

    let options = options(&database)
        .authorizer(insiders_at_once)
        .dry_run("nobody", |_: AuthorizationRequest| false);
    let app = App::serve(options).await;
    assert_eq!(app.query("{ open { id } }").await.code(), "FORBIDDEN");
}
