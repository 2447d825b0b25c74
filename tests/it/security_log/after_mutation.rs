//! The events of queries after a mutation.

use serde_json::{Value, json};
use svc::authz::OperationType;
use svc::prelude::*;
use svc::{Limits, SecurityLogConfig, get_security_logger, init_security_logger};
use svc_tests::{App, is_alone};

use super::files::{PATIENCE, events};

/// The maximum size of a response, in bytes.
const ANSWER: usize = 1_000;

#[svc::query]
fn plans() -> Option<i32> {
    None
}

#[svc::query]
fn budget() -> i32 {
    1
}

#[svc_result(query)]
enum AskResult {
    Success,
    Error,
}

#[svc::mutation]
fn ask() -> AskResult {
    AskResultSuccess::new("ok").into()
}

/// A service that denies each query.
async fn serve() -> App {
    let only_mutations =
        async |request: AuthorizationRequest| request.operation_type() == OperationType::Mutation;
    let options = AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![plans, budget])
        .mutations(mutations![ask])
        .limits(Limits {
            answer: ANSWER,
            ..Limits::default()
        })
        .authorizer(only_mutations);
    App::serve(options).await
}

/// The resource and the action of each event of a mutation with these fields below `query`.
async fn recorded(fields: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    init_security_logger(SecurityLogConfig {
        path: Some(path.clone()),
        stdout: false,
    });
    let query =
        format!("mutation {{ ask {{ ... on AskSuccess {{ status query {{ {fields} }} }} }} }}");
    let reply = serve().await.query(&query).await;
    assert_eq!(
        reply.json()["data"]["ask"]["status"],
        "ok",
        "{}",
        reply.text
    );
    assert!(get_security_logger().flush(PATIENCE));
    events(&path)
        .iter()
        .map(|event| json!([event["resource"], event["action"]]))
        .collect()
}

#[tokio::test]
async fn a_denied_field_below_query_is_a_query() {
    if is_alone(module_path!(), "a_denied_field_below_query_is_a_query") {
        assert_eq!(recorded("plans").await, [json!(["Query.plans", "query"])]);
    }
}

/// The null of the required field ends `query`.
#[tokio::test]
async fn a_null_hides_no_denials_below_query() {
    if is_alone(module_path!(), "a_null_hides_no_denials_below_query") {
        let mut recorded = recorded("budget plans").await;
        recorded.sort_by_key(Value::to_string);
        let both = [
            json!(["Query.budget", "query"]),
            json!(["Query.plans", "query"]),
        ];
        assert_eq!(recorded, both);
    }
}

/// The keys of an object count for its size.
#[tokio::test]
async fn a_query_that_is_too_large_hides_no_denials() {
    if is_alone(module_path!(), "a_query_that_is_too_large_hides_no_denials") {
        let key = "k".repeat(ANSWER);
        let mut recorded = recorded(&format!("{key}: plans")).await;
        recorded.sort_by_key(Value::to_string);
        let both = [
            json!(["AskSuccess.query", "query"]),
            json!(["Query.plans", "query"]),
        ];
        assert_eq!(recorded, both);
    }
}
