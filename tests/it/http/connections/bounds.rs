//! The bounds of connections, in all and for each address.

use std::time::Duration;

use svc::HttpConfig;
use svc_tests::eventually;
use svc_tests::raw::{Client, PATIENCE, post, serve};

use super::{HELLO, NEVER, router};

const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: x\r\n\r\n";

/// Opens a connection whose request has been answered.
async fn idle(address: std::net::SocketAddr) -> Client {
    let mut client = Client::open(address).await;
    client.send(&post(HELLO)).await;
    assert!(client.answer().await.contains("world"));
    client
}

/// Waits until a request runs on each of so many connections.
async fn busy(address: std::net::SocketAddr, count: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = Client::open(address).await;
        client.send(&post(NEVER)).await;
        clients.push(client);
    }
    clients
}

#[tokio::test]
async fn the_longest_idle_connection_is_closed_for_a_new_one() {
    let config = HttpConfig {
        max_connections: 3,
        ..HttpConfig::default()
    };
    let address = serve(config, router().await.0).await;
    let mut first = idle(address).await;
    let mut others = [idle(address).await, idle(address).await];
    for _ in 0..2 {
        // Both have been used since the first one was.
        for other in &mut others {
            other.send(&post(HELLO)).await;
            assert!(other.answer().await.contains("world"));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut newcomer = Client::open(address).await;
    newcomer.send(&post(HELLO)).await;
    assert!(newcomer.answer().await.contains("world"));
    first.closed().await;
    // A client that opened connections and said nothing loses them too.
    let _silent = [Client::open(address).await, Client::open(address).await];
    for _ in 0..5 {
        idle(address).await;
    }
}

#[tokio::test]
async fn probes_are_answered_while_all_connections_are_in_use() {
    let config = HttpConfig {
        max_connections: 4,
        ..HttpConfig::default()
    };
    let address = serve(config, router().await.0).await;
    let clients = busy(address, 4).await;
    let mut waiting = Client::open(address).await;
    waiting.send(&post(HELLO)).await;
    for _ in 0..3 {
        let mut probe = Client::open(address).await;
        probe.send(HEALTH).await;
        let answer = tokio::time::timeout(PATIENCE, probe.answer())
            .await
            .unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    drop(clients);
    assert!(waiting.answer().await.contains("world"));
}

#[tokio::test]
async fn connections_are_limited_per_address() {
    let config = HttpConfig {
        max_connections_per_address: Some(2),
        ..HttpConfig::default()
    };
    let address = serve(config, router().await.0).await;
    let clients = busy(address, 2).await;
    let mut refused = Client::open(address).await;
    let (_, text) = refused.closed().await;
    assert_eq!(text, "");
    drop(clients);
    let again = async || {
        let mut client = Client::open(address).await;
        // A closed connection may not take it.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut client.0, post(HELLO).as_bytes()).await;
        let (mut text, mut bytes) = (String::new(), [0; 1024]);
        while let Ok(count @ 1..) = tokio::io::AsyncReadExt::read(&mut client.0, &mut bytes).await {
            text.push_str(&String::from_utf8_lossy(&bytes[..count]));
            if text.contains("world") {
                return Ok(());
            }
        }
        Err(text)
    };
    eventually(again).await;
}
