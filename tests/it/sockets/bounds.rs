//! The bounds of sockets and streams, and clients that do not keep to them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use svc::SubscriptionsConfig;
use svc_tests::{Events, Socket, eventually};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_tungstenite::tungstenite::protocol::Message;

use super::service::{serve, serve_with};

const OURS: (&str, &str) = ("sec-websocket-protocol", "graphql-transport-ws");

fn config() -> SubscriptionsConfig {
    SubscriptionsConfig::default()
}

#[tokio::test]
async fn connections_of_the_service_are_bounded() {
    let (app, watched) = serve_with(SubscriptionsConfig {
        max_connections: 2,
        ..config()
    })
    .await;
    let first = Socket::ready(&app).await;
    let second = Events::post(&app, "text/event-stream", "subscription { forever }").await;
    assert_eq!(Socket::upgrade(&app, &[OURS]).await.map(drop), Err(503));
    let third = Events::post(&app, "text/event-stream", "subscription { forever }").await;
    assert_eq!(third.status, 503);
    assert!(
        third
            .whole()
            .await
            .contains("as many open subscriptions as it may have")
    );
    drop((first, second));
    watched.until_streams(0).await;
    eventually(async || {
        Socket::upgrade(&app, &[OURS])
            .await
            .map(drop)
            .map_err(|status| status.to_string())
    })
    .await;
}

/// A mutation that is refused for want of a place has not run.
#[tokio::test]
async fn an_operation_without_room_for_its_stream_does_not_run() {
    let (app, watched) = serve_with(SubscriptionsConfig {
        max_connections: 1,
        ..config()
    })
    .await;
    let first = Socket::ready(&app).await;
    watched.gate.add_permits(1);
    let refused = Events::post(&app, "text/event-stream", "{ waiting }").await;
    assert_eq!((refused.status, watched.gate.available_permits()), (503, 1));
    // One that can be answered without a stream needs no place.
    let answered = Events::post(&app, "text/event-stream, application/json", "{ waiting }").await;
    assert_eq!(
        (answered.status, watched.gate.available_permits()),
        (200, 0)
    );
    drop(first);
}

/// Headers are kept for as long as a subscription is open.
#[tokio::test]
async fn long_headers_open_no_socket_or_stream() {
    let (app, watched) = serve().await;
    let (long, short) = ("x".repeat(17_000), "x".repeat(15_000));
    assert_eq!(
        Socket::upgrade(&app, &[OURS, ("cookie", &long)])
            .await
            .map(drop),
        Err(431)
    );
    Socket::upgrade(&app, &[OURS, ("cookie", &short)])
        .await
        .map(drop)
        .unwrap();
    let ask = |accept: &'static str, query: &str, cookie: &str| {
        let request = app
            .request("GET", &format!("/graphql?query={query}"))
            .header("accept", accept);
        Events::of(request.header("cookie", cookie))
    };
    assert_eq!(
        ask("text/event-stream", "subscription{forever}", &long)
            .await
            .status,
        431
    );
    assert_eq!(
        ask(
            "text/event-stream, application/json",
            "subscription{forever}",
            &long
        )
        .await
        .status,
        431
    );
    assert_eq!(
        ask("text/event-stream, application/json", "{hello}", &long)
            .await
            .status,
        200
    );
    let mut events = ask("text/event-stream", "subscription{forever}", &short).await;
    events.until("event: next").await;
    watched.until_streams(1).await;
}

#[tokio::test]
async fn operations_of_a_socket_are_bounded() {
    let (app, watched) = serve_with(SubscriptionsConfig {
        max_operations: 3,
        ..config()
    })
    .await;
    let mut socket = Socket::ready(&app).await;
    for id in ["1", "2", "3"] {
        socket.subscribe(id, "subscription { forever }").await;
        assert_eq!(socket.next().await["type"], "next");
    }
    socket.subscribe("4", "{ hello }").await;
    let refused = socket.next().await;
    assert_eq!(
        (&refused["type"], &refused["id"]),
        (&json!("error"), &json!("4"))
    );
    assert_eq!(
        refused["payload"][0]["message"],
        "a socket runs at most 3 operations at once"
    );
    socket.send(&json!({ "id": "1", "type": "complete" })).await;
    socket.subscribe("4", "{ hello }").await;
    assert_eq!(socket.next().await["type"], "next");
    watched.until_streams(2).await;
}

#[tokio::test]
async fn the_size_of_a_message_is_bounded() {
    let (app, _) = serve_with(SubscriptionsConfig {
        max_message_size: 2_048,
        ..config()
    })
    .await;
    let ping = |bytes: usize| format!("{{\"type\":\"ping\"{}}}", " ".repeat(bytes - 15));
    let mut socket = Socket::ready(&app).await;
    socket.send_frame(Message::text(ping(2_048))).await;
    assert_eq!(socket.next().await["type"], "pong");
    socket.send_frame(Message::text(ping(2_049))).await;
    assert_eq!(
        socket.closed().await,
        (1009, "a message may have 2048 bytes at most".to_owned())
    );
    // What is left of a large one, too.
    let mut socket = Socket::ready(&app).await;
    socket.send_frame(Message::text(ping(1 << 20))).await;
    assert_eq!(socket.closed().await.0, 1009);
}

#[tokio::test]
async fn a_flood_of_messages_closes_the_socket() {
    let (app, watched) = serve_with(SubscriptionsConfig {
        messages_per_second: 20,
        ..config()
    })
    .await;
    for message in [
        Message::text(r#"{"type":"ping"}"#),
        Message::Ping("x".into()),
        Message::Pong("x".into()),
    ] {
        let mut other = Socket::ready(&app).await;
        let mut socket = Socket::ready(&app).await;
        socket.subscribe("1", "subscription { forever }").await;
        watched.until_streams(1).await;
        for _ in 0..100 {
            socket.send_frame(message.clone()).await;
        }
        assert_eq!(
            socket.closed().await,
            (1008, "more than 20 messages within a second".to_owned())
        );
        watched.until_streams(0).await;
        other.subscribe("1", "{ hello }").await;
        assert_eq!(other.next().await["type"], "next");
    }
}

/// One that takes nothing is closed, and holds no stream any longer; others get their events
/// meanwhile.
async fn a_client_that_reads_nothing_is_closed() {
    // Longer than the other takes for its events, also where the machine stands still meanwhile.
    let (app, watched) = serve_with(SubscriptionsConfig {
        write_timeout: Duration::from_secs(20),
        ..config()
    })
    .await;
    let mut stuck = Socket::ready(&app).await;
    stuck.subscribe("1", "subscription { forever }").await;
    watched.until_streams(1).await;
    stuck
        .subscribe("2", "subscription { flood(size: 100000) }")
        .await;
    watched.until_streams(2).await;
    let mut other = Socket::ready(&app).await;
    for _ in 0..50 {
        other
            .subscribe("1", "subscription { ticks(count: 3) }")
            .await;
        for _ in 0..4 {
            other.next().await;
        }
    }
    let open = watched.streams.load(Ordering::SeqCst);
    assert!(
        open >= 2,
        "it waited for the other to be closed: {open} streams are open"
    );
    watched.until_streams(0).await;
    drop(stuck);
}

/// One that takes its time, but takes, stays.
#[tokio::test]
async fn a_long_message_comes_whole() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket
        .subscribe("1", "subscription { flood(size: 300000) }")
        .await;
    for _ in 0..5 {
        let message = socket.next().await;
        assert_eq!(
            message["payload"]["data"]["flood"].as_str().map(str::len),
            Some(300_000)
        );
    }
    // The others have their turn between two of them.
    socket.subscribe("2", "{ hello }").await;
    let other = async { while socket.next().await["id"] == "1" {} };
    tokio::time::timeout(svc_tests::raw::PATIENCE, other)
        .await
        .expect("the other operation has no turn");
}

async fn a_socket_that_answers_no_ping_is_closed() {
    // Longer than a machine stands still between a ping and its answer.
    let (app, _) = serve_with(SubscriptionsConfig {
        ping_interval: Duration::from_secs(6),
        ..config()
    })
    .await;
    let pinged = async {
        let mut socket = Socket::ready(&app).await;
        for _ in 0..2 {
            assert_eq!(socket.next().await, json!({ "type": "ping" }));
            socket.send(&json!({ "type": "pong" })).await;
        }
        assert_eq!(
            socket.closed().await,
            (1001, "nothing has come since the last ping".to_owned())
        );
    };
    let signs = async {
        let mut events = Events::post(&app, "text/event-stream", "subscription { forever }").await;
        events.until(":\n\n:\n\n:\n\n").await;
    };
    tokio::join!(pinged, signs);
}

async fn an_idle_socket_is_closed_after_the_idle_timeout() {
    // Long enough for an operation to begin, also where the machine stands still meanwhile.
    let idle_timeout = Some(Duration::from_secs(7));
    let (app, _) = serve_with(SubscriptionsConfig {
        idle_timeout,
        ..config()
    })
    .await;
    let mut busy = Socket::ready(&app).await;
    busy.subscribe("1", "subscription { forever }").await;
    busy.next().await;
    let mut idle = Socket::ready(&app).await;
    assert_eq!(
        idle.closed().await,
        (1001, "no operation has run for too long".to_owned())
    );
    busy.is_silent(Duration::from_secs(2)).await;
}

/// Sends bytes in the place of frames, and reads the code that the socket is closed with.
async fn closes_with(bytes: &[u8]) -> Option<u16> {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "subscription { forever }").await;
    socket.next().await;
    let stream = socket.0.get_mut();
    stream.write_all(bytes).await.unwrap();
    let mut rest = Vec::new();
    let read = tokio::time::timeout(svc_tests::raw::PATIENCE, stream.read_to_end(&mut rest)).await;
    let _ = read.expect("the socket is still open");
    watched.until_streams(0).await;
    let is_close = rest.len() >= 4 && rest[0] == 0x88;
    is_close.then(|| u16::from_be_bytes([rest[2], rest[3]]))
}

#[tokio::test]
async fn frames_that_break_the_rules_close_the_socket() {
    for (what, bytes, code) in [
        ("not masked", &b"\x81\x02{}"[..], 1002),
        ("a reserved bit", b"\xc1\x82\0\0\0\0{}", 1002),
        ("a reserved code", b"\x83\x82\0\0\0\0{}", 1002),
        ("a reserved control code", b"\x8b\x80\0\0\0\0", 1002),
        ("a continuation of nothing", b"\x80\x82\0\0\0\0{}", 1002),
        (
            "a text within a text",
            b"\x01\x81\0\0\0\0{\x81\x81\0\0\0\0}",
            1002,
        ),
        ("a control frame in parts", b"\x09\x80\0\0\0\0", 1002),
        (
            "a long control frame",
            &[&b"\x89\xfe\0\x7e"[..], &[0; 130]].concat(),
            1002,
        ),
        (
            "a text that is not UTF-8",
            b"\x81\x82\0\0\0\0\xc3\x28",
            1007,
        ),
        (
            "a length without end",
            b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",
            1009,
        ),
    ] {
        assert_eq!(closes_with(bytes).await, Some(code), "{what}");
    }
}

#[tokio::test]
async fn a_text_in_parts_is_one_message() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    let parts = [
        &b"\x01\x88\0\0\0\0{\"type\":"[..],
        b"\x89\x81\0\0\0\0x",
        b"\x80\x87\0\0\0\0\"ping\"}",
    ];
    for part in parts {
        socket.0.get_mut().write_all(part).await.unwrap();
    }
    assert_eq!(socket.next().await, json!({ "type": "pong" }));
}

#[tokio::test]
async fn a_half_closed_client_ends_its_streams() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "subscription { forever }").await;
    watched.until_streams(1).await;
    socket.0.get_mut().shutdown().await.unwrap();
    watched.until_streams(0).await;
    let mut events = Events::post(&app, "text/event-stream", "subscription { forever }").await;
    events.until("event: next").await;
    drop(events);
    watched.until_streams(0).await;
}

/// Opens and closes leave nothing behind: a place for another connection is there each time.
#[tokio::test]
async fn a_thousand_opens_leave_nothing_behind() {
    let (app, watched) = serve_with(SubscriptionsConfig {
        max_connections: 4,
        ..config()
    })
    .await;
    for round in 0..1_000 {
        let mut socket = eventually(async || {
            Socket::upgrade(&app, &[OURS])
                .await
                .map_err(|status| status.to_string())
        })
        .await;
        socket.send(&json!({ "type": "connection_init" })).await;
        if round % 2 == 0 {
            socket.subscribe("1", "subscription { forever }").await;
        }
        if round % 3 == 0 {
            socket.0.close(None).await.unwrap();
        }
    }
    watched.until_streams(0).await;
}

/// Each of these waits for a time to pass, so they wait together.
#[tokio::test]
async fn sockets_of_stuck_silent_and_idle_clients_are_closed() {
    tokio::join!(
        a_client_that_reads_nothing_is_closed(),
        a_socket_that_answers_no_ping_is_closed(),
        an_idle_socket_is_closed_after_the_idle_timeout(),
    );
}
