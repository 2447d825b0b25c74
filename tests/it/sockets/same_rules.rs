//! The rules of `POST`, which hold on every transport.

use serde_json::{Value, json};
use svc::authz::{AuthorizationDecision, AuthorizationRequest, Authorizer};
use svc::prelude::*;
use svc::{Limits, OperationsConfig};
use svc_tests::{App, Events, Socket};

use super::service::{Watched, nowhere, options};

/// A policy that denies all mutations.
struct ReadOnly;

impl Authorizer for ReadOnly {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        let denied = ["bump", "forever"].contains(&request.operation_name());
        Ok(if denied {
            AuthorizationDecision::deny()
        } else {
            AuthorizationDecision::allow()
        })
    }
}

async fn serve(config: SvcConfig) -> (App, Watched) {
    let watched = Watched::new();
    let options = options(&watched)
        .config(SvcConfig {
            database: nowhere(),
            ..config
        })
        .authorizer(ReadOnly);
    (App::serve(options).await, watched)
}

/// The errors of an answer, without what differs from one to the next.
fn errors(answer: &Value) -> Value {
    answer["errors"].as_array().map_or(Value::Null, |errors| {
        errors
            .iter()
            .map(|error| json!([error["message"], error["path"], error["extensions"]]))
            .collect()
    })
}

/// The answer to a document on each transport: by POST, on a socket, and as events.
async fn ask_on_all_transports(app: &App, query: &str) -> [Value; 3] {
    let post = app.query(query).await.json();
    let mut socket = Socket::ready(app).await;
    socket.subscribe("1", query).await;
    let message = socket.next().await;
    let on_socket = match message["type"].as_str() {
        Some("error") => json!({ "errors": message["payload"] }),
        _ => message["payload"].clone(),
    };
    let mut events = Events::post(app, "text/event-stream", query).await;
    let text = events.until("\n\nevent: complete").await;
    let data = text
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .unwrap();
    [post, on_socket, serde_json::from_str(data).unwrap()]
}

#[tokio::test]
async fn limits_gates_and_guards_apply_on_every_transport() {
    let limits = Limits {
        aliases: 3,
        complexity: 3,
        ..Limits::default()
    };
    let (app, watched) = serve(SvcConfig {
        limits,
        ..SvcConfig::default()
    })
    .await;
    for (query, is_refused) in [
        ("{ hello }", false),
        ("mutation { bump }", true),
        (
            r#"{ hello who x: seen(header: "x") y: seen(header: "y") }"#,
            true,
        ),
        ("{ a: hello b: hello c: hello d: hello }", true),
        ("{ hello @skip(if: $missing) }", true),
    ] {
        let [post, socket, events] = ask_on_all_transports(&app, query).await;
        assert_eq!(
            (errors(&post), post.get("data")),
            (errors(&socket), socket.get("data")),
            "{query}"
        );
        assert_eq!(
            (errors(&post), post.get("data")),
            (errors(&events), events.get("data")),
            "{query}"
        );
        assert_eq!(errors(&post) != Value::Null, is_refused, "{query}: {post}");
    }
    let mut socket = Socket::ready(&app).await;
    for (query, code) in [
        ("subscription { forever }", "FORBIDDEN"),
        ("subscription { mine }", "UNAUTHENTICATED"),
        (
            "subscription { a: ticks(count: 1) b: ticks(count: 1) }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
    ] {
        socket.subscribe("1", query).await;
        let message = socket.next().await;
        assert_eq!(
            message["payload"][0]["extensions"]["code"], code,
            "{message}"
        );
        let text = Events::post(&app, "text/event-stream", query)
            .await
            .whole()
            .await;
        assert!(text.contains(code), "{text}");
    }
    watched.until_streams(0).await;
}

#[tokio::test]
async fn registered_only_applies_to_sockets_and_streams() {
    let operations = OperationsConfig {
        registered_only: true,
        ..OperationsConfig::default()
    };
    let (app, _) = serve(SvcConfig {
        operations,
        ..SvcConfig::default()
    })
    .await;
    let [post, socket, events] = ask_on_all_transports(&app, "{ hello }").await;
    assert_ne!(errors(&post), Value::Null, "{post}");
    assert_eq!(
        [errors(&socket), errors(&events)],
        [errors(&post), errors(&post)]
    );
}
