//! `graphql-transport-ws`: each message and each close code, and the cases of the tests of
//! graphql-ws's own server.

use std::time::Duration;

use serde_json::{Value, json};
use svc::SubscriptionsConfig;
use svc_tests::Socket;
use tokio_tungstenite::tungstenite::protocol::Message;

use super::service::{brief, serve, serve_with};

fn next(id: &str, data: &Value) -> Value {
    json!({ "id": id, "type": "next", "payload": { "data": data } })
}

fn complete(id: &str) -> Value {
    json!({ "id": id, "type": "complete" })
}

#[tokio::test]
async fn a_query_has_one_result_and_completes() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "{ hello }").await;
    assert_eq!(
        socket.next().await,
        next("1", &json!({ "hello": "hello, world" }))
    );
    assert_eq!(socket.next().await, complete("1"));
}

#[tokio::test]
async fn a_mutation_and_variables_work_too() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("m", "mutation { bump }").await;
    assert_eq!(socket.next().await, next("m", &json!({ "bump": 2 })));
    assert_eq!(socket.next().await, complete("m"));
    let payload = json!({
        "query": "query A { hello } query B($name: String) { hello(name: $name) }",
        "operationName": "B", "variables": { "name": "Ada" }, "extensions": null,
    });
    socket
        .send(&json!({ "id": "q", "type": "subscribe", "payload": payload }))
        .await;
    assert_eq!(
        socket.next().await,
        next("q", &json!({ "hello": "hello, Ada" }))
    );
}

#[tokio::test]
async fn a_subscription_has_a_result_for_each_event_and_completes() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket
        .subscribe("ü\"1", "subscription { ticks(count: 2) }")
        .await;
    assert_eq!(socket.next().await, next("ü\"1", &json!({ "ticks": 1 })));
    assert_eq!(socket.next().await, next("ü\"1", &json!({ "ticks": 2 })));
    assert_eq!(socket.next().await, complete("ü\"1"));
    watched.until_streams(0).await;
}

#[tokio::test]
async fn operations_interleave_and_an_identifier_is_free_again() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("a", "subscription { forever }").await;
    assert_eq!(socket.next().await, next("a", &json!({ "forever": 1 })));
    for _ in 0..3 {
        socket.subscribe("b", "{ hello }").await;
        assert_eq!(
            socket.next().await,
            next("b", &json!({ "hello": "hello, world" }))
        );
        assert_eq!(socket.next().await, complete("b"));
    }
    socket.send(&complete("a")).await;
    socket.subscribe("a", "{ hello }").await;
    assert_eq!(
        socket.next().await,
        next("a", &json!({ "hello": "hello, world" }))
    );
    watched.until_streams(0).await;
}

/// Nothing is told of what the client has completed, not even that it is complete.
#[tokio::test]
async fn what_the_client_completes_is_over() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("s", "subscription { gated }").await;
    socket.subscribe("q", "{ waiting }").await;
    watched.until_streams(2).await;
    socket.send(&complete("s")).await;
    socket.send(&complete("q")).await;
    watched.until_streams(0).await;
    watched.gate.add_permits(10);
    // Completing what is not known, or no longer, is ignored.
    socket.send(&complete("q")).await;
    socket.send(&complete("never")).await;
    socket.subscribe("end", "{ hello }").await;
    assert_eq!(socket.next().await["id"], "end");
}

/// One that the client completes before its stream is made never has one.
#[tokio::test]
async fn what_the_client_completes_while_it_begins_is_over() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("s", "subscription { stalled }").await;
    watched.until_streams(1).await;
    socket.send(&complete("s")).await;
    watched.until_streams(0).await;
    watched.gate.add_permits(1);
    socket.subscribe("end", "{ hello }").await;
    assert_eq!(socket.next().await["id"], "end");
    // Nor has one whose socket is closed meanwhile.
    watched.gate.acquire().await.unwrap().forget();
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("s", "subscription { stalled }").await;
    watched.until_streams(1).await;
    socket.0.close(None).await.unwrap();
    watched.until_streams(0).await;
}

/// Code of the application may panic where nobody looks; the other streams of the socket end all
/// the same.
#[tokio::test]
async fn a_stream_that_panics_at_its_end_keeps_no_other() {
    let (app, watched) = serve().await;
    for ends in ["complete", "close", "drop"] {
        let mut socket = Socket::ready(&app).await;
        for (id, query) in [
            ("a", "forever"),
            ("b", "sticky"),
            ("c", "forever"),
            ("d", "sticky"),
            ("e", "forever"),
        ] {
            socket
                .subscribe(id, &format!("subscription {{ {query} }}"))
                .await;
            assert_eq!(socket.next().await["id"], id);
        }
        watched.until_streams(3).await;
        match ends {
            "complete" => {
                socket.send(&complete("b")).await;
                socket.subscribe("b", "{ hello }").await;
                assert_eq!(
                    socket.next().await["payload"]["data"]["hello"],
                    "hello, world"
                );
                watched.until_streams(3).await;
            }
            "close" => socket.0.close(None).await.unwrap(),
            _ => {}
        }
        drop(socket);
        watched.until_streams(0).await;
    }
}

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
async fn the_subscription_that_is_named_runs_with_its_variables() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    let query = "subscription Other { forever } subscription Watch($n: Int!) { ticks(count: $n) }";
    let payload = json!({ "query": query, "operationName": "Watch", "variables": { "n": 1 } });
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": payload }))
        .await;
    assert_eq!(socket.next().await, next("1", &json!({ "ticks": 1 })));
    assert_eq!(socket.next().await, complete("1"));
    let unnamed = json!({ "query": query, "variables": { "n": 1 } });
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": unnamed }))
        .await;
    assert_eq!(
        socket.next().await["payload"][0]["extensions"]["code"],
        "OPERATION_RESOLUTION_FAILURE"
    );
}

#[tokio::test]
async fn what_does_not_run_is_an_error_and_nothing_follows() {
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
async fn a_socket_that_was_initialised_stays() {
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
async fn what_is_not_a_message_closes_4400() {
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

#[tokio::test]
async fn streams_end_with_their_socket() {
    let (app, watched) = serve().await;
    for ends_politely in [true, false] {
        let mut socket = Socket::ready(&app).await;
        for id in 0..20 {
            socket
                .subscribe(&id.to_string(), "subscription { forever }")
                .await;
        }
        socket.subscribe("query", "{ waiting }").await;
        watched.until_streams(21).await;
        if ends_politely {
            socket.0.close(None).await.unwrap();
        }
        drop(socket);
        watched.until_streams(0).await;
    }
}

#[tokio::test]
async fn persisted_documents_work() {
    let (app, _) = serve().await;
    let hash = hex::encode(<sha2::Sha256 as sha2::Digest>::digest("{ hello }"));
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    let mut socket = Socket::ready(&app).await;
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": { "extensions": extensions } }))
        .await;
    assert_eq!(
        socket.next().await["payload"][0]["extensions"]["code"],
        "PERSISTED_QUERY_NOT_FOUND"
    );
    let payload = json!({ "query": "{ hello }", "extensions": extensions });
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": payload }))
        .await;
    assert_eq!(socket.next().await["type"], "next");
    assert_eq!(socket.next().await, complete("1"));
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": { "extensions": extensions } }))
        .await;
    assert_eq!(
        socket.next().await,
        next("1", &json!({ "hello": "hello, world" }))
    );
}
