//! The opening of sockets: subprotocols, origins, and what is not a WebSocket.

use serde_json::json;
use svc::SubscriptionsConfig;
use svc_tests::{App, Socket};
use tokio_tungstenite::tungstenite::protocol::Message;

use super::service::{serve, serve_with};

const OURS: (&str, &str) = ("sec-websocket-protocol", "graphql-transport-ws");

#[tokio::test]
async fn other_subprotocols_are_closed_4406() {
    let (app, watched) = serve().await;
    for (protocol, reason) in [
        (
            "graphql-ws",
            "graphql-ws is no longer served; use graphql-transport-ws",
        ),
        ("graphql-subscriptions", "use graphql-transport-ws"),
        ("GRAPHQL-TRANSPORT-WS", "use graphql-transport-ws"),
    ] {
        let mut socket = Socket::upgrade(&app, &[("sec-websocket-protocol", protocol)])
            .await
            .unwrap();
        let (code, told) = socket.closed().await;
        assert!(
            code == 4406 && told.ends_with(reason),
            "{protocol}: {code} {told}"
        );
    }
    let mut socket = Socket::upgrade(&app, &[]).await.unwrap();
    assert_eq!(socket.closed().await.0, 4406);
    // What the older protocol would have begun without an initialisation is not read.
    let mut socket = Socket::upgrade(&app, &[("sec-websocket-protocol", "graphql-ws")])
        .await
        .unwrap();
    let start =
        json!({ "type": "start", "id": "1", "payload": { "query": "subscription { forever }" } });
    socket.send_frame(Message::text(start.to_string())).await;
    assert_eq!(socket.closed().await.0, 4406);
    watched.until_streams(0).await;
}

#[tokio::test]
async fn the_subprotocol_is_found_among_others() {
    let (app, _) = serve().await;
    for protocols in ["graphql-ws, graphql-transport-ws", "x,graphql-transport-ws"] {
        let mut socket = Socket::upgrade(&app, &[("sec-websocket-protocol", protocols)])
            .await
            .unwrap();
        socket.send(&json!({ "type": "connection_init" })).await;
        assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
    }
}

async fn opens(app: &App, origin: &str) -> Result<(), u16> {
    Socket::upgrade(app, &[OURS, ("origin", origin)])
        .await
        .map(drop)
}

/// A page of another site could use the user's cookies.
#[tokio::test]
async fn pages_of_other_sites_open_no_socket() {
    let (app, _) = serve().await;
    let host = app.address();
    assert_eq!(opens(&app, &format!("http://{host}")).await, Ok(()));
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost",
        "http://127.0.0.1:1",
    ] {
        assert_eq!(opens(&app, origin).await, Err(403), "{origin}");
    }
    let two = [
        OURS,
        ("origin", &format!("http://{host}")),
        ("origin", "https://evil.example"),
    ];
    assert_eq!(Socket::upgrade(&app, &two).await.map(drop), Err(403));
    let allowed_origins = vec!["https://app.example".to_owned()];
    let (app, _) = serve_with(SubscriptionsConfig {
        allowed_origins,
        ..SubscriptionsConfig::default()
    })
    .await;
    assert_eq!(opens(&app, "https://app.example").await, Ok(()));
    assert_eq!(
        opens(&app, "https://app.example.evil.example").await,
        Err(403)
    );
}

#[tokio::test]
async fn malformed_handshakes_are_refused() {
    let (app, _) = serve().await;
    let key = "dGhlIHNhbXBsZSBub25jZQ==";
    for (headers, status, told) in [
        (
            format!("connection: upgrade\r\nsec-websocket-version: 8\r\nsec-websocket-key: {key}"),
            426,
            "version: 13",
        ),
        (
            format!("connection: upgrade\r\nsec-websocket-key: {key}"),
            426,
            "send `Sec-WebSocket-Version: 13`",
        ),
        (
            "connection: upgrade\r\nsec-websocket-version: 13".to_owned(),
            400,
            "send a `Sec-WebSocket-Key`",
        ),
        (
            "connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: short"
                .to_owned(),
            400,
            "16 bytes",
        ),
        (
            format!("sec-websocket-version: 13\r\nsec-websocket-key: {key}"),
            400,
            "send `Connection: Upgrade`",
        ),
    ] {
        let mut client = svc_tests::raw::Client::open(app.address()).await;
        client
            .send(&format!(
                "GET /graphql HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\n{headers}\r\n\r\n"
            ))
            .await;
        let answer = client.answer().await;
        let is_json = answer.contains("\r\ncontent-type: application/json");
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(told) && is_json,
            "{answer}"
        );
    }
}

/// The example of RFC 6455, section 1.3.
#[tokio::test]
async fn the_answer_to_the_key_is_that_of_the_rfc() {
    let (app, _) = serve().await;
    let mut client = svc_tests::raw::Client::open(app.address()).await;
    client
        .send(
            "GET /graphql HTTP/1.1\r\nhost: x\r\nconnection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             sec-websocket-protocol: graphql-transport-ws\r\n\r\n",
        )
        .await;
    let mut head = [0; 4096];
    let count = tokio::io::AsyncReadExt::read(&mut client.0, &mut head)
        .await
        .unwrap();
    let head = String::from_utf8_lossy(&head[..count]).to_lowercase();
    assert!(
        head.starts_with("http/1.1 101 ") && head.contains("s3pplmbitxaq9kygzzhzrbk+xoo="),
        "{head}"
    );
    assert!(
        head.contains("sec-websocket-protocol: graphql-transport-ws"),
        "{head}"
    );
}

#[tokio::test]
async fn operations_see_the_request_that_opened_their_socket() {
    let (app, _) = serve().await;
    let mut socket = Socket::open_with(&app, &[("x-tenant", "seven"), ("cookie", "a=b")]).await;
    socket.send(&json!({ "type": "connection_init" })).await;
    socket.next().await;
    for (header, value) in [
        ("x-tenant", "seven"),
        ("cookie", "a=b"),
        ("sec-websocket-key", "none"),
    ] {
        socket
            .subscribe("1", &format!("{{ seen(header: \"{header}\") }}"))
            .await;
        assert_eq!(
            socket.next().await["payload"]["data"]["seen"],
            format!("WebSocket {value}")
        );
        socket.next().await;
    }
}
