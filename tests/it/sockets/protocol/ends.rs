//! Operations that end early: the client completes them, or their socket ends.

use svc_tests::Socket;

use super::super::service::serve;
use super::complete;

/// Nothing is sent for an operation that the client has completed, not even `complete`.
#[tokio::test]
async fn a_completed_operation_sends_nothing_more() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("s", "subscription { gated }").await;
    socket.subscribe("q", "{ waiting }").await;
    watched.until_streams(2).await;
    socket.send(&complete("s")).await;
    socket.send(&complete("q")).await;
    watched.until_streams(0).await;
    watched.gate.add_permits(10);
    // Completing what is not known, or no longer, is ignored.
    socket.send(&complete("q")).await;
    socket.send(&complete("never")).await;
    socket.subscribe("end", "{ hello }").await;
    assert_eq!(socket.next().await["id"], "end");
}

/// One that the client completes before its stream is made never has one.
#[tokio::test]
async fn an_operation_completed_before_its_stream_starts_is_over() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("s", "subscription { stalled }").await;
    watched.until_streams(1).await;
    socket.send(&complete("s")).await;
    watched.until_streams(0).await;
    watched.gate.add_permits(1);
    socket.subscribe("end", "{ hello }").await;
    assert_eq!(socket.next().await["id"], "end");
    // Nor has one whose socket is closed meanwhile.
    watched.gate.acquire().await.unwrap().forget();
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("s", "subscription { stalled }").await;
    watched.until_streams(1).await;
    socket.0.close(None).await.unwrap();
    watched.until_streams(0).await;
}

/// Code of the application may panic in a drop; the other streams of the socket end all the same.
#[tokio::test]
async fn a_stream_that_panics_when_dropped_ends_the_others_too() {
    let (app, watched) = serve().await;
    for ends in ["complete", "close", "drop"] {
        let mut socket = Socket::ready(&app).await;
        for (id, query) in [
            ("a", "forever"),
            ("b", "sticky"),
            ("c", "forever"),
            ("d", "sticky"),
            ("e", "forever"),
        ] {
            socket
                .subscribe(id, &format!("subscription {{ {query} }}"))
                .await;
            assert_eq!(socket.next().await["id"], id);
        }
        watched.until_streams(3).await;
        match ends {
            "complete" => {
                socket.send(&complete("b")).await;
                socket.subscribe("b", "{ hello }").await;
                assert_eq!(
                    socket.next().await["payload"]["data"]["hello"],
                    "hello, world"
                );
                watched.until_streams(3).await;
            }
            "close" => socket.0.close(None).await.unwrap(),
            _ => {}
        }
        drop(socket);
        watched.until_streams(0).await;
    }
}

#[tokio::test]
async fn streams_end_with_their_socket() {
    let (app, watched) = serve().await;
    for ends_politely in [true, false] {
        let mut socket = Socket::ready(&app).await;
        for id in 0..20 {
            socket
                .subscribe(&id.to_string(), "subscription { forever }")
                .await;
        }
        socket.subscribe("query", "{ waiting }").await;
        watched.until_streams(21).await;
        if ends_politely {
            socket.0.close(None).await.unwrap();
        }
        drop(socket);
        watched.until_streams(0).await;
    }
}
