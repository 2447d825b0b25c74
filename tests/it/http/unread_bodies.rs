//! Responses to requests whose body nobody has read: the connection goes on, or the response says
//! that it does not.

use std::net::SocketAddr;
use std::time::Duration;

use svc::prelude::*;
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
use svc::{HttpConfig, ProtectionConfig};
use svc_tests::raw::{Client, post, serve};
use tokio::sync::Semaphore;

use super::connections::{answered, steadily};

const HELLO: &str = r#"{"query":"{ hello }"}"#;

static GATE: Semaphore = Semaphore::const_new(0);

#[svc::query]
fn hello() -> &'static str {
    "world"
}

#[svc::query]
async fn gated() -> Result<bool> {
    Ok(GATE.acquire().await.is_ok())
}

fn options(protection: ProtectionConfig) -> AppOptions {
    let config = SvcConfig {
        protection,
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![hello, gated])
}

async fn serve_options(options: AppOptions) -> SocketAddr {
    serve(
        HttpConfig::default(),
        create_svc_app(options).await.unwrap(),
    )
    .await
}

async fn server(protection: ProtectionConfig) -> SocketAddr {
    serve_options(options(protection)).await
}

/// The refusals that need no body: method, path, headers, and the status.
const REFUSALS: [(&str, &str, &str, &str); 6] = [
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

fn head(method: &str, path: &str, headers: &str, length: usize) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {length}\r\n\r\n")
}

/// Half the time that a response waits for the rest of a body.
const STILL: Duration = Duration::from_millis(500);

/// Sends head and body in two segments, and looks at the answer; an error where the connection
/// closes.
async fn refused(client: &mut Client, head: &str, status: &str) -> Result<(), String> {
    client.send(head).await;
    // Long enough for the head to arrive alone on most machines, and right in either case.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let answer = answered(client, HELLO).await?;
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status}")),
        "{answer}"
    );
    if answer.to_ascii_lowercase().contains("connection: close") {
        Err(answer)
    } else {
        Ok(())
    }
}

#[tokio::test]
async fn a_connection_stays_open_after_a_small_unread_body() {
    let address = server(ProtectionConfig::default()).await;
    for (method, path, headers, status) in REFUSALS {
        steadily(STILL, async |_| {
            let mut client = Client::open(address).await;
            for _ in 0..3 {
                refused(
                    &mut client,
                    &head(method, path, headers, HELLO.len()),
                    status,
                )
                .await?;
            }
            client.send(&post(HELLO)).await;
            assert!(
                client.answer().await.contains("world"),
                "{method} {path} {headers}"
            );
            Ok(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_connection_stays_open_after_a_shed_request() {
    let shed_after = Duration::ZERO;
    let address = server(ProtectionConfig {
        max_in_flight: 1,
        shed_after,
        ..ProtectionConfig::default()
    })
    .await;
    let mut running = Client::open(address).await;
    running.send(&post(r#"{"query":"{ gated }"}"#)).await;
    let head = head(
        "POST",
        "/graphql",
        "content-type: application/json\r\n",
        HELLO.len(),
    );
    let mut client = steadily(STILL, async |_| {
        let mut client = Client::open(address).await;
        client.send(&post(HELLO)).await;
        client.answer().await;
        for _ in 0..3 {
            refused(&mut client, &head, "503").await?;
        }
        Ok(client)
    })
    .await;
    GATE.add_permits(1);
    assert!(running.answer().await.contains("true"));
    client.send(&post(HELLO)).await;
    assert!(client.answer().await.contains("world"));
}

#[tokio::test]
async fn a_connection_stays_open_after_a_rate_limited_request() {
    let rule = RateLimitRule::new("/graphql/*", RateLimit::requests(1).per_minute());
    let limiting = RateLimiting::new().rules([rule]);
    let address = serve_options(options(ProtectionConfig::default()).rate_limiting(limiting)).await;
    let head = head(
        "POST",
        "/graphql",
        "content-type: application/json\r\n",
        HELLO.len(),
    );
    let mut client = steadily(STILL, async |_| {
        let mut client = Client::open(address).await;
        // The one request of the minute.
        client.send(&post(HELLO)).await;
        client.answer().await;
        for _ in 0..3 {
            refused(&mut client, &head, "429").await?;
        }
        Ok(client)
    })
    .await;
    client.send("GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let answer = client.answer().await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn a_response_before_a_long_or_late_body_announces_the_close() {
    let address = server(ProtectionConfig::default()).await;
    for length in [1_000_000, 500] {
        for (method, path, headers, status) in REFUSALS {
            let mut client = Client::open(address).await;
            client.send(&head(method, path, headers, length)).await;
            let answer = client.answer().await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{answer}"
            );
            assert!(
                answer.to_ascii_lowercase().contains("connection: close"),
                "{answer}"
            );
        }
    }
}
