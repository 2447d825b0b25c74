//! The initialisation of a socket, pings, and the messages that close it.

use std::time::Duration;

use serde_json::json;
use svc::SubscriptionsConfig;
use svc_tests::Socket;
use tokio_tungstenite::tungstenite::protocol::Message;

use super::super::service::{brief, serve, serve_with};

#[tokio::test]
async fn pings_are_answered_with_their_payload_and_pongs_are_not() {
    let (app, _) = serve().await;
    let mut socket = Socket::open(&app).await;
    socket.send(&json!({ "type": "pong" })).await;
    socket
        .send(&json!({ "type": "pong", "payload": { "any": 1 } }))
        .await;
    socket.send(&json!({ "type": "ping" })).await;
    assert_eq!(socket.next().await, json!({ "type": "pong" }));
    let payload = json!({ "i": [1, { "ching": "chong" }], "n": 12345678901234567890u64 });
    socket
        .send(&json!({ "type": "ping", "payload": payload }))
        .await;
    assert_eq!(
        socket.next().await,
        json!({ "type": "pong", "payload": payload })
    );
    socket
        .send(&json!({ "type": "ping", "payload": null }))
        .await;
    assert_eq!(socket.next().await, json!({ "type": "pong" }));
    socket.send_frame(Message::Ping("frame".into())).await;
    socket.send(&json!({ "type": "connection_init" })).await;
    assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
}

#[tokio::test]
async fn an_operation_before_the_acknowledgement_closes_4401() {
    let (app, watched) = serve().await;
    let mut socket = Socket::open(&app).await;
    socket.subscribe("1", "subscription { forever }").await;
    assert_eq!(socket.closed().await, (4401, "Unauthorized".to_owned()));
    watched.until_streams(0).await;
}

#[tokio::test]
async fn no_initialisation_in_time_closes_4408() {
    let (app, _) = serve_with(brief()).await;
    let mut socket = Socket::open(&app).await;
    socket.send(&json!({ "type": "ping" })).await;
    assert_eq!(
        socket.closed().await,
        (4408, "Connection initialisation timeout".to_owned())
    );
}

#[tokio::test]
async fn an_initialised_socket_outlives_the_init_timeout() {
    // Enough for the first message, also where the machine stands still meanwhile.
    let init_timeout = Duration::from_secs(7);
    let (app, _) = serve_with(SubscriptionsConfig {
        init_timeout,
        ..SubscriptionsConfig::default()
    })
    .await;
    let mut socket = Socket::ready(&app).await;
    socket.is_silent(Duration::from_secs(9)).await;
    socket.subscribe("1", "{ hello }").await;
    assert_eq!(socket.next().await["type"], "next");
}

#[tokio::test]
async fn a_second_initialisation_closes_4429() {
    let (app, _) = serve().await;
    let expected = (4429, "Too many initialisation requests".to_owned());
    let mut socket = Socket::ready(&app).await;
    socket.send(&json!({ "type": "connection_init" })).await;
    assert_eq!(socket.closed().await, expected);
    let mut socket = Socket::open(&app).await;
    for _ in 0..2 {
        socket
            .send_frame(Message::text(r#"{"type":"connection_init"}"#))
            .await;
    }
    assert_eq!(socket.closed().await, expected);
}

#[tokio::test]
async fn an_identifier_in_use_closes_4409() {
    let (app, watched) = serve().await;
    for first in ["subscription { forever }", "{ waiting }"] {
        let mut socket = Socket::ready(&app).await;
        socket.subscribe("same", first).await;
        watched.until_streams(1).await;
        socket.subscribe("same", "{ hello }").await;
        assert_eq!(
            socket.closed().await,
            (4409, "Subscriber for same already exists".to_owned())
        );
        watched.until_streams(0).await;
    }
    // A reason has room for 123 bytes.
    let mut socket = Socket::ready(&app).await;
    let long = "ü".repeat(100);
    socket.subscribe(&long, "subscription { forever }").await;
    socket.subscribe(&long, "subscription { forever }").await;
    let (code, reason) = socket.closed().await;
    assert!(
        code == 4409 && reason.len() <= 123 && reason.starts_with("Subscriber for üü"),
        "{code} {reason}"
    );
}

#[tokio::test]
async fn malformed_messages_close_4400() {
    let (app, _) = serve().await;
    for (message, reason) in [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("null", "is not a message"),
        ("[]", "is not a message"),
        ("\"connection_init\"", "is not a message"),
        ("{}", "is not a message"),
        (r#"{"type":1}"#, "is not a message"),
        (r#"{"type":"subscribe","type":"ping"}"#, "is not a message"),
        (
            r#"{"type":"start","id":"1","payload":{"query":"{hello}"}}"#,
            "its `type` is not one of",
        ),
        (r#"{"type":"connection_ack"}"#, "its `type` is not one of"),
        (
            r#"{"type":"next","id":"1","payload":{}}"#,
            "its `type` is not one of",
        ),
        (
            r#"{"type":"connection_init","payload":1}"#,
            "takes an object",
        ),
        (r#"{"type":"ping","payload":"x"}"#, "takes an object"),
        (r#"{"type":"pong","payload":[]}"#, "takes an object"),
        (r#"{"type":"complete"}"#, "needs an `id`"),
        (
            r#"{"type":"complete","id":""}"#,
            "needs an `id` that is not empty",
        ),
        (r#"{"type":"complete","id":7}"#, "is not a message"),
        (
            r#"{"type":"subscribe","payload":{"query":"{hello}"}}"#,
            "needs an `id`",
        ),
        (r#"{"type":"subscribe","id":"1"}"#, "needs a `payload`"),
        (
            r#"{"type":"subscribe","id":"1","payload":null}"#,
            "needs a `payload`",
        ),
        (
            r#"{"type":"subscribe","id":"1","payload":"{hello}"}"#,
            "takes an object",
        ),
        (
            r#"{"type":"subscribe","id":"1","payload":{}}"#,
            "`query` is missing",
        ),
        (
            r#"{"type":"subscribe","id":"1","payload":{"query":1}}"#,
            "`query` must be a string",
        ),
        (
            r#"{"type":"subscribe","id":"1","payload":{"query":"{hello}","variables":[]}}"#,
            "`variables` must be",
        ),
        (
            r#"{"type":"subscribe","id":"1","payload":{"query":"{hello}","operationName":1}}"#,
            "`operationName` must",
        ),
        (
            r#"{"type":"subscribe","id":"1","payload":{"query":"{hello}","extensions":""}}"#,
            "`extensions` must be",
        ),
    ] {
        let mut socket = Socket::ready(&app).await;
        socket.send_frame(Message::text(message)).await;
        let (code, told) = socket.closed().await;
        assert!(
            code == 4400 && told.contains(reason),
            "{message}: {code} {told}"
        );
    }
    let mut socket = Socket::ready(&app).await;
    socket
        .send_frame(Message::binary(r#"{"type":"ping"}"#.as_bytes()))
        .await;
    assert_eq!(
        socket.closed().await,
        (
            4400,
            "Invalid message received: messages are texts".to_owned()
        )
    );
    let mut socket = Socket::ready(&app).await;
    socket.subscribe(&"x".repeat(257), "{ hello }").await;
    assert_eq!(socket.closed().await.0, 4400);
}
