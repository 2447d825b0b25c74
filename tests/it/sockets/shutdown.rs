//! The end of a service: sockets and streams go before it.

use std::time::{Duration, Instant};

use svc_tests::{Events, Socket};

use super::service::serve;
use crate::http::steadily;

/// A machine that stands still for so long delays even an end that waits for nothing.
const STILL: Duration = Duration::from_secs(1);

/// An error where the end has waited for about as long as the grace period is.
fn soon(began: Instant) -> Result<(), String> {
    let took = began.elapsed();
    if took < Duration::from_secs(8) {
        Ok(())
    } else {
        Err(format!("it has waited for {took:?}"))
    }
}

#[tokio::test]
async fn a_graceful_stop_closes_1001_and_ends_streams() {
    steadily(STILL, async |_| {
        let (mut app, watched) = serve().await;
        let mut socket = Socket::ready(&app).await;
        for id in ["1", "2"] {
            socket.subscribe(id, "subscription { forever }").await;
            socket.next().await;
        }
        let mut fresh = Socket::open(&app).await;
        let mut events = Events::post(&app, "text/event-stream", "subscription { forever }").await;
        events.until("event: next").await;
        let mut parts = Events::post(
            &app,
            "multipart/mixed;subscriptionSpec=1.0",
            "subscription { forever }",
        )
        .await;
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
        assert!(
            text.contains("SERVICE_UNAVAILABLE") && text.ends_with("--graphql--\r\n"),
            "{text}"
        );
        watched.until_streams(0).await;
        drop((socket, fresh));
        app.stopped().await;
        soon(began)
    })
    .await;
}

/// A client that does not answer the closing delays the end by no more than the time for that.
#[tokio::test]
async fn a_silent_client_does_not_delay_the_shutdown() {
    steadily(STILL, async |_| {
        let (mut app, watched) = serve().await;
        let mut socket = Socket::ready(&app).await;
        socket
            .subscribe("1", "subscription { flood(size: 100000) }")
            .await;
        watched.until_streams(1).await;
        let began = Instant::now();
        app.stop();
        app.stopped().await;
        soon(began)?;
        watched.until_streams(0).await;
        drop(socket);
        Ok(())
    })
    .await;
}
