//! Errors of operations and of events, which leave the socket and its other operations alone.

use serde_json::{Value, json};
use svc_tests::Socket;

use super::super::service::serve;
use super::{complete, next};

/// An error of one operation ends that one alone.
#[tokio::test]
async fn an_error_leaves_the_other_operations_alone() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("2", "subscription { gated }").await;
    watched.until_streams(1).await;
    socket.subscribe("1", "subscription { refused }").await;
    assert_eq!(socket.next().await["type"], "error");
    watched.gate.add_permits(1);
    assert_eq!(socket.next().await, next("2", &json!({ "gated": null })));
    // Its identifier is free again.
    socket.subscribe("1", "{ hello }").await;
    assert_eq!(socket.next().await["id"], "1");
}

#[tokio::test]
async fn a_refused_operation_is_one_error_message() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    for (query, code) in [
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ hello", "GRAPHQL_PARSE_FAILED"),
        (
            "subscription { ticks(count: 1) forever }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "subscription($n: Int!) { ticks(count: $n) }",
            "BAD_USER_INPUT",
        ),
        ("subscription { refused }", "FORBIDDEN"),
        ("subscription { mine }", "UNAUTHENTICATED"),
    ] {
        socket.subscribe("1", query).await;
        let message = socket.next().await;
        assert_eq!(
            (&message["id"], &message["type"]),
            (&json!("1"), &json!("error")),
            "{query}: {message}"
        );
        assert_eq!(
            message["payload"][0]["extensions"]["code"], code,
            "{query}: {message}"
        );
        assert!(
            message["payload"].is_array() && message.as_object().unwrap().len() == 3,
            "{message}"
        );
    }
    socket.subscribe("1", "{ hello }").await;
    assert_eq!(
        socket.next().await,
        next("1", &json!({ "hello": "hello, world" }))
    );
}

#[tokio::test]
async fn an_event_that_fails_leaves_the_others_alone() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "subscription { faulty }").await;
    assert_eq!(socket.next().await, next("1", &json!({ "faulty": 1 })));
    let failed = socket.next().await;
    assert_eq!(
        (&failed["type"], &failed["payload"]["data"]),
        (&json!("next"), &Value::Null)
    );
    assert_eq!(
        failed["payload"]["errors"][0]["message"],
        "the second is not there"
    );
    assert_eq!(socket.next().await, next("1", &json!({ "faulty": 3 })));
    assert_eq!(socket.next().await, complete("1"));
}

#[tokio::test]
async fn a_stream_that_panics_leaves_its_socket_alone() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "subscription { broken }").await;
    assert_eq!(socket.next().await, next("1", &json!({ "broken": 1 })));
    let failed = socket.next().await;
    assert_eq!(
        failed["payload"]["errors"][0]["message"], "internal server error",
        "{failed}"
    );
    assert!(!failed.to_string().contains("as it does"), "{failed}");
    assert_eq!(socket.next().await, complete("1"));
    socket.subscribe("1", "{ hello }").await;
    assert_eq!(socket.next().await["type"], "next");
}
