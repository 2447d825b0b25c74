//! Refusals while the client is still sending.

use std::net::SocketAddr;
use std::time::Duration;

use svc::HttpConfig;
use svc::axum::body::Bytes;
use svc::prelude::*;
use svc_tests::{
    TestDatabase,
    raw::{Client, PATIENCE, post, serve},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::connections::steadily;

#[svc::query]
fn hello() -> &'static str {
    "world"
}

async fn server() -> SocketAddr {
    server_with(HttpConfig::default()).await
}

async fn server_with(config: HttpConfig) -> SocketAddr {
    let url = TestDatabase::empty().await;
    let options = AppOptions::new().database_url(url).queries(queries![hello]);
    serve(config, create_svc_app(options).await.unwrap()).await
}

/// The refusals: path, headers, and how each begins.
const REFUSALS: [(&str, &str, &str, &str); 7] = [
    (
        "POST",
        "/graphql",
        "content-type: application/json\r\n",
        "413",
    ),
    ("POST", "/graphql", "content-type: text/xml\r\n", "415"),
    ("POST", "/graphql", "content-type: text/plain\r\n", "403"),
    (
        "POST",
        "/graphql",
        "content-type: application/json\r\ncontent-encoding: gzip\r\n",
        "415",
    ),
    (
        "POST",
        "/graphql",
        "content-type: application/json\r\naccept: image/png\r\n",
        "406",
    ),
    (
        "PUT",
        "/graphql",
        "content-type: application/json\r\n",
        "405",
    ),
    (
        "POST",
        "/nowhere",
        "content-type: application/json\r\n",
        "404",
    ),
];

const SIZE: usize = 4_000_000;

/// Sends everything before it reads anything, as simple clients do. The server waits five seconds
/// for each piece.
async fn send_all_then_read(address: SocketAddr, head: &str, pieces: &[Vec<u8>]) -> String {
    steadily(Duration::from_secs(2), async |_| {
        let broken = |error: std::io::Error| format!("{error} in place of the whole answer");
        let mut stream = TcpStream::connect(address).await.map_err(broken)?;
        stream.write_all(head.as_bytes()).await.map_err(broken)?;
        for piece in pieces {
            stream.write_all(piece).await.map_err(broken)?;
            // So that the refusal is on its way before the next piece is.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let mut text = String::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut text)).await;
        read.expect("the connection is still open")
            .map_err(broken)?;
        Ok(text)
    })
    .await
}

#[tokio::test]
async fn a_refusal_is_readable_after_a_body_with_a_length() {
    let address = server().await;
    for (method, path, headers, status) in REFUSALS {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {SIZE}\r\n\r\n"
        );
        let text = send_all_then_read(address, &head, &vec![vec![b' '; SIZE / 20]; 20]).await;
        assert!(
            text.starts_with(&format!("HTTP/1.1 {status} ")),
            "{status}: {text}"
        );
    }
}

#[tokio::test]
async fn a_refusal_is_readable_after_a_chunked_body() {
    let address = server().await;
    for (method, path, headers, status) in REFUSALS {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\n{headers}transfer-encoding: chunked\r\n\r\n"
        );
        let chunk = [
            format!("{:x}\r\n", SIZE / 20).into_bytes(),
            vec![b' '; SIZE / 20],
            b"\r\n".to_vec(),
        ]
        .concat();
        let text = send_all_then_read(address, &head, &vec![chunk; 20]).await;
        assert!(
            text.starts_with(&format!("HTTP/1.1 {status} ")),
            "{status}: {text}"
        );
    }
}

#[tokio::test]
async fn expect_continue_is_refused_before_the_body() {
    let address = server().await;
    for (method, path, headers, status) in REFUSALS {
        let mut client = Client::open(address).await;
        let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{headers}");
        client
            .send(&format!(
                "{head}expect: 100-continue\r\ncontent-length: {SIZE}\r\n\r\n"
            ))
            .await;
        let answer = client.answer().await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{status}: {answer}"
        );
    }
    let mut client = Client::open(address).await;
    let request =
        post(r#"{"query":"{ hello }"}"#).replace("host: x", "host: x\r\nexpect: 100-continue");
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    client.send(&format!("{head}\r\n\r\n")).await;
    assert_eq!(client.answer().await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(body).await;
    assert!(client.answer().await.contains("world"));
}

#[tokio::test]
async fn a_small_unread_body_leaves_the_connection_open() {
    let mut client = Client::open(server().await).await;
    for _ in 0..3 {
        client
            .send("POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n0123456789")
            .await;
        assert!(client.answer().await.starts_with("HTTP/1.1 404"));
    }
    client.send(&post(r#"{"query":"{ hello }"}"#)).await;
    assert!(client.answer().await.contains("world"));
}

#[tokio::test]
async fn an_invalid_request_head_is_answered_despite_more_data() {
    let address = server().await;
    let text = send_all_then_read(
        address,
        "\u{1}\u{2}\u{3} nothing\r\n\r\n",
        &vec![vec![b'x'; 100_000]; 10],
    )
    .await;
    assert!(text.starts_with("HTTP/1.1 400 "), "{text}");
    let long = format!("GET / HTTP/1.1\r\ncookie: {}", "c".repeat(200_000));
    let text = send_all_then_read(address, &long, &vec![vec![b'x'; 100_000]; 10]).await;
    assert!(text.starts_with("HTTP/1.1 431 "), "{text}");
}

#[tokio::test]
async fn the_discarded_rest_of_a_body_is_bounded() {
    let address = server().await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    stream
        .write_all(format!("{head}content-length: 10000000000\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let (piece, mut sent) = (vec![b' '; 100_000], 0);
    while stream.write_all(&piece).await.is_ok() {
        sent += piece.len();
        assert!(sent < 100_000_000, "the server reads on and on");
    }
}

#[tokio::test]
async fn a_refused_client_that_stays_silent_is_disconnected() {
    let address = server_with(HttpConfig {
        max_connections: 1,
        ..HttpConfig::default()
    })
    .await;
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    let _client = steadily(Duration::from_secs(1), async |_| {
        let mut client = Client::open(address).await;
        client
            .send(&format!("{head}content-length: 10000000\r\n\r\n"))
            .await;
        assert!(client.answer().await.starts_with("HTTP/1.1 413"));
        let (after, rest) = client.closed().await;
        assert!(rest.is_empty(), "{rest}");
        if after < Duration::from_secs(4) {
            Ok(client)
        } else {
            Err(format!("it was left after {after:?}"))
        }
    })
    .await;
    // It goes on holding its end, and so the only place, until it has said nothing for five
    // seconds.
    let mut other = Client::open(address).await;
    other.send(&post(r#"{"query":"{ hello }"}"#)).await;
    assert!(other.answer().await.contains("world"));
}

#[tokio::test]
async fn a_refusal_is_readable_over_http2() {
    let address = server().await;
    for (method, path, headers, status) in REFUSALS {
        let stream = TcpStream::connect(address).await.unwrap();
        let (requests, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("http://x{path}"));
        for line in headers.lines() {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let mut requests = requests.ready().await.unwrap();
        let (response, mut send) = requests
            .send_request(request.body(()).unwrap(), false)
            .unwrap();
        // More than the windows hold; what is refused is not asked for.
        for _ in 0..40 {
            if send
                .send_data(Bytes::from(vec![b' '; 100_000]), false)
                .is_err()
            {
                break;
            }
            tokio::task::yield_now().await;
        }
        let response = tokio::time::timeout(PATIENCE, response)
            .await
            .expect("no answer")
            .expect("a response");
        assert_eq!(response.status().as_u16().to_string(), status);
        let mut body = response.into_body();
        let mut text = Vec::new();
        while let Some(data) = tokio::time::timeout(PATIENCE, body.data())
            .await
            .expect("no end in time")
        {
            text.extend_from_slice(&data.expect("the whole answer"));
        }
        assert!(
            status == "404" || text.ends_with(b"}]}"),
            "{status}: {}",
            String::from_utf8_lossy(&text)
        );
    }
}

/// Each chunk costs the server, however short it is.
#[tokio::test]
async fn a_body_in_tiny_chunks_is_refused() {
    let address = server().await;
    let body = format!("{{\"query\":\"{{ hello }}\"{}}}", " ".repeat(200_000));
    for (part, status) in [(1, "400"), (100, "200")] {
        let chunk =
            |part: &[u8]| format!("{:x}\r\n{}\r\n", part.len(), String::from_utf8_lossy(part));
        let chunks: String = body.as_bytes().chunks(part).map(chunk).collect();
        let head = "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                    transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
        let text = send_all_then_read(address, head, &[(chunks + "0\r\n\r\n").into_bytes()]).await;
        assert!(
            text.starts_with(&format!("HTTP/1.1 {status}")),
            "{part}: {text}"
        );
    }
}

/// A proxy that decodes such a body sees another one.
#[tokio::test]
async fn a_body_with_a_content_encoding_is_refused() {
    let address = server().await;
    let body = r#"{"query":"{ hello }"}"#;
    for (coding, status) in [
        ("gzip", 415),
        ("identity, gzip", 415),
        ("br", 415),
        ("Identity", 200),
        ("identity2", 415),
    ] {
        let mut client = Client::open(address).await;
        client
            .send(&post(body).replace("host: x", &format!("host: x\r\ncontent-encoding: {coding}")))
            .await;
        let answer = client.answer().await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{coding}: {answer}"
        );
        assert_eq!(
            answer.contains("accept-encoding: identity\r\n"),
            status == 415,
            "{coding}: {answer}"
        );
    }
    let mut client = Client::open(address).await;
    let codings = "host: x\r\ncontent-encoding: identity\r\ncontent-encoding: gzip";
    client.send(&post(body).replace("host: x", codings)).await;
    assert!(client.answer().await.starts_with("HTTP/1.1 415 "));
}

/// RFC 9112, section 6.1: a body with both lengths is read by its chunks, and is the last of its
/// connection.
#[tokio::test]
async fn nothing_is_read_after_a_body_with_two_lengths() {
    let address = server().await;
    let body = r#"{"query":"{ hello }"}"#;
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let (length, coding) = ("content-length: 6\r\n", "transfer-encoding: chunked\r\n");
    for lengths in [[length, coding].concat(), [coding, length].concat()] {
        let head = format!(
            "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{lengths}\r\n"
        );
        let mut client = Client::open(address).await;
        client
            .send(&[head, chunks.clone(), post(body)].concat())
            .await;
        let text = client.closed().await.1;
        assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{text}");
        assert!(text.contains("connection: close\r\n"), "{text}");
    }
}
