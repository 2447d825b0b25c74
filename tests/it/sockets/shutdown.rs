//! The end of a service: sockets and streams go before it.

use std::time::{Duration, Instant};

use svc_tests::{Events, Socket, eventually};

use super::service::serve;

#[tokio::test]
async fn a_graceful_stop_closes_1001_and_ends_streams() {
    let (mut app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    for id in ["1", "2"] {
        socket.subscribe(id, "subscription { forever }").await;
        socket.next().await;
    }
    let mut fresh = Socket::open(&app).await;
    let mut events = Events::post(&app, "text/event-stream", "subscription { forever }").await;
    events.until("event: next").await;
    let mut parts = Events::post(&app, "multipart/mixed;subscriptionSpec=1.0", "subscription { forever }").await;
    parts.until("payload").await;
    let began = Instant::now();
    app.stop();
    for socket in [&mut socket, &mut fresh] {
        assert_eq!(socket.closed().await, (1001, "Going away".to_owned()));
    }
    // A stream that was not completed is opened again by its client.
    let text = events.whole().await;
    assert!(!text.contains("complete"), "{text}");
    let text = parts.whole().await;
    assert!(text.contains("SERVICE_UNAVAILABLE") && text.ends_with("--graphql--\r\n"), "{text}");
    watched.until_streams(0).await;
    drop((socket, fresh));
    app.stopped().await;
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
}

/// A client that does not answer the closing delays the end by no more than the time for that.
#[tokio::test]
async fn a_client_that_says_nothing_does_not_hold_the_end() {
    let (mut app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "subscription { flood(size: 100000) }").await;
    watched.until_streams(1).await;
    let began = Instant::now();
    app.stop();
    app.stopped().await;
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    eventually(async || {
        if watched.streams.load(std::sync::atomic::Ordering::SeqCst) == 0 { Ok(()) } else { Err("open".to_owned()) }
    })
    .await;
    drop(socket);
}
