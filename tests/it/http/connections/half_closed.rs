//! Clients that close their side, or the whole connection, while their request runs.

use std::net::SocketAddr;
use std::time::Duration;

use svc::HttpConfig;
use svc::prelude::*;
use svc_tests::{
    TestDatabase,
    raw::{Client, post, serve},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{HELLO, NEVER, SLOW, router};

const INTERIM: &str = "HTTP/1.1 100 Continue\r\n\r\n";

async fn server(half_close_timeout: Duration) -> SocketAddr {
    serve(
        HttpConfig {
            half_close_timeout,
            ..HttpConfig::default()
        },
        router().await.0,
    )
    .await
}

/// Sends everything, shuts down its side, and reads to the end.
async fn half_closed(address: SocketAddr, request: &str) -> String {
    let mut client = Client::open(address).await;
    client.send(request).await;
    client.0.shutdown().await.unwrap();
    client.closed().await.1
}

#[tokio::test]
async fn a_half_closed_client_is_answered() {
    // Those of HTTP/1.0 cannot be asked, and get their answers however long the machine takes for
    // these.
    let address = server(Duration::from_secs(30)).await;
    let old = |request: String| request.replace("HTTP/1.1", "HTTP/1.0");
    let kept = |request: String| request.replace("host: x", "host: x\r\nconnection: keep-alive");
    let closing = |request: String| request.replace("host: x", "host: x\r\nconnection: close");
    let get = || "GET /graphql?query=%7Bslow%7D HTTP/1.1\r\nhost: x\r\n\r\n".to_owned();
    let chunks = |body: &str| {
        let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
        let (first, rest) = body.split_at(5);
        let rest = format!("{:x}\r\n{rest}\r\n0\r\n\r\n", rest.len());
        format!("{head}transfer-encoding: chunked\r\n\r\n5\r\n{first}\r\n{rest}")
    };
    for (request, expected) in [
        (post(HELLO), r#"{"data":{"hello":"world"}}"#),
        (old(post(HELLO)), r#"{"data":{"hello":"world"}}"#),
        (post(SLOW), r#"{"data":{"slow":true}}"#),
        (kept(post(SLOW)), r#"{"data":{"slow":true}}"#),
        (closing(post(SLOW)), r#"{"data":{"slow":true}}"#),
        (chunks(SLOW), r#"{"data":{"slow":true}}"#),
        (get(), r#"{"data":{"slow":true}}"#),
        (old(post(SLOW)), r#"{"data":{"slow":true}}"#),
        (old(kept(post(SLOW))), r#"{"data":{"slow":true}}"#),
        (old(get()), r#"{"data":{"slow":true}}"#),
    ] {
        let text = half_closed(address, &request).await;
        assert!(text.ends_with(expected), "{request:?}: {text:?}");
        let answer = text.strip_prefix(INTERIM).unwrap_or(&text);
        assert!(
            answer.starts_with("HTTP/1.") && answer.contains(" 200 OK\r\n"),
            "{request:?}: {text:?}"
        );
        // HTTP/1.0 has no interim responses.
        assert!(
            request.contains("HTTP/1.1") || !text.contains(INTERIM),
            "{request:?}: {text:?}"
        );
    }
}

#[tokio::test]
async fn all_requests_before_a_half_close_are_answered() {
    let address = server(Duration::ZERO).await;
    let text = half_closed(address, &[post(HELLO), post(SLOW), post(HELLO)].concat()).await;
    assert_eq!(text.matches(" 200 OK\r\n").count(), 3, "{text}");
}

#[tokio::test]
async fn a_half_closed_client_gets_all_of_a_large_answer() {
    let address = server(Duration::ZERO).await;
    let text = half_closed(address, "GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(text.matches('x').count(), 32_000_000);
}

#[tokio::test]
async fn a_truncated_body_is_refused() {
    let address = server(HttpConfig::default().half_close_timeout).await;
    let request = post(HELLO);
    let text = half_closed(address, &request[..request.len() - 3]).await;
    assert!(
        text.contains(" 400 Bad Request\r\n") && text.contains("the body could not be read"),
        "{text}"
    );
    assert_eq!(half_closed(address, &request[..20]).await, "");
    assert_eq!(half_closed(address, "").await, "");
}

#[tokio::test]
async fn a_half_closed_http10_client_is_dropped_after_the_timeout() {
    let address = server(Duration::from_millis(50)).await;
    let request = post(NEVER).replace("HTTP/1.1", "HTTP/1.0");
    assert_eq!(half_closed(address, &request).await, "");
}

#[svc_type(sql_source = "v_long")]
pub(super) struct Long {
    pub id: i32,
}

#[svc::query]
fn long() -> Vec<Long>;

/// A server whose `long` takes longer than a test waits for its end.
async fn with_statement() -> (TestDatabase, SocketAddr) {
    let sql = "CREATE VIEW v_long AS SELECT 1 AS id FROM (SELECT pg_sleep(300)) AS late";
    let database = TestDatabase::new(sql).await;
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            query_timeout: Duration::from_secs(300),
            ..svc::DatabaseConfig::default()
        },
        request_timeout: None,
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .types(types![Long])
        .queries(queries![long]);
    let app = create_svc_app(options).await.unwrap();
    (database, serve(HttpConfig::default(), app).await)
}

#[tokio::test]
async fn the_statement_of_a_disconnected_client_is_cancelled() {
    let (database, address) = with_statement().await;
    let request = post(r#"{"query":"{ long { id } }"}"#);
    for (version, reset) in [
        ("HTTP/1.1", false),
        ("HTTP/1.1", true),
        ("HTTP/1.0", false),
        ("HTTP/1.0", true),
    ] {
        let mut client = Client::open(address).await;
        client.send(&request.replace("HTTP/1.1", version)).await;
        database.until_running("v_long", 1).await;
        if reset {
            client.0.set_zero_linger().unwrap();
        }
        drop(client);
        database.until_running("v_long", 0).await;
    }
}

#[tokio::test]
async fn a_waiting_half_closed_client_keeps_its_statement() {
    let (database, address) = with_statement().await;
    let mut client = Client::open(address).await;
    client.send(&post(r#"{"query":"{ long { id } }"}"#)).await;
    database.until_running("v_long", 1).await;
    client.0.shutdown().await.unwrap();
    assert_eq!(client.answer().await, INTERIM);
    // Neither an answer nor an end comes, though a client that cannot be asked would have been
    // given up by now.
    let early =
        tokio::time::timeout(Duration::from_millis(2_500), client.0.read(&mut [0; 64])).await;
    assert!(early.is_err(), "{early:?}");
    database.until_running("v_long", 1).await;
    // It would sleep on for minutes beside the other tests.
    let end = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND strpos(query, 'v_long') > 0 AND pid <> pg_backend_pid()";
    database.execute(end).await;
}
