//! The time-outs and bounds of connections of HTTP/1.

use std::time::{Duration, Instant};
use svc_tests::raw::{Client, PATIENCE, post, serve};

use svc::HttpConfig;

use super::{HELLO, NEVER, SLOW, answered, router, steadily};

const HEADER_TIMEOUT: Duration = Duration::from_millis(200);

/// An idle connection stays open for longer than a test waits.
fn config() -> HttpConfig {
    HttpConfig {
        header_timeout: HEADER_TIMEOUT,
        ..HttpConfig::default()
    }
}

#[tokio::test]
async fn an_idle_connection_outlives_the_header_timeout() {
    let idle_timeout = Duration::from_millis(1_200);
    let address = serve(
        HttpConfig {
            idle_timeout,
            ..config()
        },
        router().await.0,
    )
    .await;
    steadily(HEADER_TIMEOUT / 2, async |_| {
        let mut client = Client::open(address).await;
        let mut start = Instant::now();
        for _ in 0..2 {
            start = Instant::now();
            assert!(answered(&mut client, &post(HELLO)).await?.contains("world"));
        }
        assert_eq!(client.closed().await.1, "");
        assert!(
            start.elapsed() >= idle_timeout,
            "closed after {:?}",
            start.elapsed()
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_header_timeout_applies_to_later_requests() {
    let address = serve(config(), router().await.0).await;
    steadily(HEADER_TIMEOUT / 2, async |_| {
        let mut client = Client::open(address).await;
        answered(&mut client, &post(HELLO)).await?;
        client.send("POST /graphql HTTP/1.1\r\nho").await;
        assert_eq!(client.closed().await.1, "");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_request_head_sent_byte_by_byte_is_ended() {
    let address = serve(config(), router().await.0).await;
    let (mut read, mut write) = Client::open(address).await.0.into_split();
    let sending = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt as _;
        for byte in
            b"GET /health HTTP/1.1\r\nx: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                .iter()
                .cycle()
        {
            if write.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut rest = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut read, &mut rest);
    let ended = tokio::time::timeout(PATIENCE, read).await;
    assert!(ended.is_ok(), "the connection is still open");
    sending.abort();
}

#[tokio::test]
async fn a_request_that_runs_longer_than_every_timeout_is_answered() {
    let brief = Duration::from_millis(250);
    let config = HttpConfig {
        header_timeout: brief,
        idle_timeout: brief,
        write_timeout: brief,
        ..HttpConfig::default()
    };
    let address = serve(config, router().await.0).await;
    steadily(brief / 2, async |_| {
        let mut client = Client::open(address).await;
        assert!(
            answered(&mut client, &post(SLOW))
                .await?
                .contains(r#"{"slow":true}"#)
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn clients_beyond_the_connection_limit_wait_for_a_free_one() {
    // A connection that stands still for half a second before its request is read is closed for the
    // third.
    steadily(Duration::from_millis(200), async |_| {
        let config = HttpConfig {
            max_connections: 2,
            ..HttpConfig::default()
        };
        let address = serve(config, router().await.0).await;
        let (mut first, mut second) = (Client::open(address).await, Client::open(address).await);
        for client in [&mut first, &mut second] {
            client.send(&post(NEVER)).await;
        }
        let mut third = Client::open(address).await;
        third.send(&post(HELLO)).await;
        if let Ok(early) = tokio::time::timeout(Duration::from_millis(200), third.answer()).await {
            return Err(format!("a third connection was accepted: {early:?}"));
        }
        drop(first);
        assert!(third.answer().await.contains("world"));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_size_of_a_request_head_is_bounded() {
    let config = HttpConfig {
        max_header_size: 10_000,
        ..HttpConfig::default()
    };
    let address = serve(config, router().await.0).await;
    for head in [
        format!(
            "GET /health HTTP/1.1\r\nhost: x\r\ncookie: {}\r\n\r\n",
            "c".repeat(20_000)
        ),
        format!(
            "GET /health?{} HTTP/1.1\r\nhost: x\r\n\r\n",
            "q".repeat(20_000)
        ),
        format!(
            "GET /health HTTP/1.1\r\nhost: x\r\n{}\r\n",
            "a: b\r\n".repeat(150)
        ),
    ] {
        let mut client = Client::open(address).await;
        client.send(&head).await;
        let answer = client.answer().await;
        assert!(
            answer.starts_with("HTTP/1.1 431") || answer.starts_with("HTTP/1.1 414"),
            "{answer}"
        );
    }
    let mut client = Client::open(address).await;
    client
        .send(&format!(
            "GET /health HTTP/1.1\r\nhost: x\r\ncookie: {}\r\n\r\n",
            "c".repeat(8_000)
        ))
        .await;
    assert!(client.answer().await.starts_with("HTTP/1.1 200"));
}
