//! The stop of a server, with clients that hold on.

use std::time::{Duration, Instant};
use svc_tests::is_alone_with;
use svc_tests::raw::{Client, PATIENCE, post};

use futures_util::future::join_all;
use svc::Server;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::{HELLO, NEVER, SLOW, answered, router, steadily};

/// Longer than a request takes that is answered, however busy the machine is.
const LONG_GRACE: Duration = Duration::from_secs(20);

/// A server with a grace period: its address, what stops it, and its end.
async fn server(
    grace: Duration,
) -> (
    std::net::SocketAddr,
    oneshot::Sender<()>,
    tokio::task::JoinHandle<()>,
) {
    let server = Server::bind(([127, 0, 0, 1], 0))
        .await
        .unwrap()
        .grace(grace);
    let (address, (stop, stopped)) = (server.local_addr(), oneshot::channel());
    let run = server.run(router().await.0, async {
        stopped.await.unwrap_or_default();
    });
    (address, stop, tokio::spawn(run))
}

#[tokio::test]
async fn idle_and_silent_clients_do_not_delay_a_stop() {
    let (address, stop, ended) = server(LONG_GRACE).await;
    let mut clients = Vec::new();
    for text in ["", "POST /gra", "PRI * HTTP/2.0\r\n\r\n", &post(HELLO)] {
        let mut client = Client::open(address).await;
        client.send(text).await;
        clients.push(client);
    }
    assert!(clients[3].answer().await.contains("world"));
    let mut running = Client::open(address).await;
    running.send(&post(SLOW)).await;
    // The request has come when a later connection is answered.
    let mut later = Client::open(address).await;
    later.send(&post(HELLO)).await;
    later.answer().await;
    let start = Instant::now();
    stop.send(()).unwrap();
    assert!(running.answer().await.contains(r#"{"slow":true}"#));
    tokio::time::timeout(PATIENCE, ended)
        .await
        .expect("the server still runs")
        .unwrap();
    assert!(
        start.elapsed() < LONG_GRACE,
        "it has waited for {:?}",
        start.elapsed()
    );
    for client in &mut clients {
        client.closed().await;
    }
}

/// Half the time that a server leaves for a request when it stops.
const STILL: Duration = Duration::from_millis(250);

#[tokio::test]
async fn a_request_sent_during_a_stop_is_answered() {
    steadily(STILL, async |_| {
        let (address, stop, ended) = server(LONG_GRACE).await;
        let mut client = Client::open(address).await;
        // It is accepted before a later connection is.
        let mut later = Client::open(address).await;
        later.send(&post(HELLO)).await;
        later.answer().await;
        stop.send(()).unwrap();
        // The server has seen the signal when it closes what is idle.
        later.closed().await;
        assert!(answered(&mut client, &post(HELLO)).await?.contains("world"));
        client.closed().await;
        tokio::time::timeout(PATIENCE, ended)
            .await
            .expect("the server still runs")
            .unwrap();
        Ok(())
    })
    .await;
}

/// A client between two requests learns from its next answer that the connection closes.
#[tokio::test]
async fn the_last_answer_to_an_idle_client_announces_the_close() {
    steadily(STILL, async |_| {
        let (address, stop, ended) = server(LONG_GRACE).await;
        let mut clients = Vec::new();
        for _ in 0..8 {
            let mut client = Client::open(address).await;
            client.send(&post(HELLO)).await;
            assert!(
                !client
                    .answer()
                    .await
                    .to_ascii_lowercase()
                    .contains("connection: close")
            );
            clients.push(client);
        }
        stop.send(()).unwrap();
        let asking = clients
            .iter_mut()
            .map(|client| async move { answered(client, &post(HELLO)).await });
        let answers = join_all(asking).await;
        for (answer, client) in answers.into_iter().zip(&mut clients) {
            let answer = answer?;
            assert!(
                answer.contains("world")
                    && answer.to_ascii_lowercase().contains("connection: close"),
                "{answer}"
            );
            client.closed().await;
        }
        tokio::time::timeout(PATIENCE, ended)
            .await
            .expect("the server still runs")
            .unwrap();
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_stop_ends_after_the_grace_period() {
    let grace = Duration::from_millis(1_500);
    let (address, stop, ended) = server(grace).await;
    let refused = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 5000000\r\n\r\n";
    let mut clients = Vec::new();
    for text in [
        "GET /large HTTP/1.1\r\nhost: x\r\n\r\n",
        &post(NEVER),
        refused,
    ] {
        let mut client = Client::open(address).await;
        client.send(text).await;
        clients.push(client);
    }
    assert!(clients[2].answer().await.starts_with("HTTP/1.1 413"));
    clients[0].0.readable().await.unwrap();
    let start = Instant::now();
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, ended)
        .await
        .expect("the server still runs")
        .unwrap();
    assert!(
        start.elapsed() >= grace,
        "stopped after {:?}",
        start.elapsed()
    );
    clients[1].closed().await;
    assert!(
        tokio::net::TcpStream::connect(address).await.is_err(),
        "a connection was accepted"
    );
}

/// A client has two seconds to answer a close frame, but no longer than the server runs.
#[tokio::test]
async fn an_unresponsive_socket_ends_with_the_server() {
    let upgrade = "GET /graphql HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                   sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   sec-websocket-protocol: graphql-transport-ws\r\n\r\n";
    steadily(STILL, async |_| {
        let (address, stop, ended) = server(Duration::from_millis(200)).await;
        let mut client = Client::open(address).await;
        client.send(upgrade).await;
        let answer = client.answer().await;
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
        let start = Instant::now();
        stop.send(()).unwrap();
        tokio::time::timeout(PATIENCE, ended)
            .await
            .expect("the server still runs")
            .unwrap();
        let (_, last) = client.closed().await;
        assert!(last.contains("Going away"), "{last:?}");
        if start.elapsed() < Duration::from_secs(2) {
            Ok(())
        } else {
            Err(format!("closed after {:?}", start.elapsed()))
        }
    })
    .await;
}

/// A program with its own condition to stop is not ended by the signal for which it listens.
#[tokio::test]
async fn a_custom_stop_future_is_awaited() {
    const NAME: &str = "a_custom_stop_future_is_awaited";
    if !is_alone_with(module_path!(), NAME, &[("SVC_PORT", "0")]) {
        return;
    }
    let server = Server::from_env().await.unwrap();
    let mut terminated = signal(SignalKind::terminate()).unwrap();
    let run = server.run(router().await.0, async {
        terminated.recv().await.unwrap_or_default();
    });
    // The server runs before the signal is sent.
    let pid = std::process::id().to_string();
    let sent = async {
        tokio::process::Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .await
    };
    let ((), sent) = tokio::time::timeout(PATIENCE, async { tokio::join!(run, sent) })
        .await
        .expect("the server still runs");
    assert!(sent.unwrap().success());
}
