//! The end of a token's time, and pings that put it off.

use std::time::Duration;

use serde_json::json;
use svc::AuthConfig;
use svc_tests::{Events, Socket};

use super::{ADA, BOB, SOON, Service, bearer, ends_in, of, serve};
use crate::auth::token;

/// Waits for a time, in seconds since 1970.
async fn until(time: f64) {
    tokio::time::sleep(Duration::from_secs_f64((time - ends_in(0.0)).max(0.0))).await;
}

/// Three streams outlive two renewals without a lost event.
async fn a_ping_renews_the_token() {
    let Service { app, watched, .. } = serve(AuthConfig::default()).await;
    let start = ends_in(0.0);
    let held_for = |seconds: f64| bearer(&token(json!({ "sub": ADA, "exp": start + seconds })));
    let mut socket = Socket::ready_with(&app, json!({ "authorization": held_for(10.0) })).await;
    for id in ["a", "b", "c"] {
        socket.subscribe(id, "subscription { gated }").await;
    }
    watched.until_streams(3).await;
    for (renewed, ended) in [(20.0, 10.0), (30.0, 20.0)] {
        socket
            .send(&json!({ "type": "ping", "payload": { "authorization": held_for(renewed) } }))
            .await;
        // The token is not sent back.
        assert_eq!(socket.next().await, json!({ "type": "pong" }));
        // A while after the end of the token before.
        until(start + ended + 0.2).await;
        watched.gate.add_permits(30);
        for _ in 0..30 {
            let event = socket.next().await;
            assert_eq!(event["payload"]["data"]["gated"], ADA, "{event}");
        }
    }
    assert_eq!(
        socket.closed().await,
        (4403, "the token has expired".to_owned())
    );
    watched.until_streams(0).await;
}

#[tokio::test]
async fn another_user_s_token_renews_nothing() {
    let Service { app, .. } = serve(AuthConfig::default()).await;
    let renewal =
        |token: &str| json!({ "type": "ping", "payload": { "authorization": bearer(token) } });
    for first in [json!({ "authorization": bearer(&of(ADA)) }), json!({})] {
        let mut socket = Socket::ready_with(&app, first).await;
        socket.send(&renewal(&of(BOB))).await;
        let expected = (
            4403,
            "a socket stays with the user that it began with".to_owned(),
        );
        assert_eq!(socket.closed().await, expected);
    }
    let mut socket = Socket::ready_with(&app, json!({ "authorization": bearer(&of(ADA)) })).await;
    socket.send(&renewal("nonsense")).await;
    assert_eq!(
        socket.closed().await,
        (4403, "the token is not valid".to_owned())
    );
    let mut socket = Socket::open(&app).await;
    socket.send(&renewal(&of(ADA))).await;
    assert_eq!(socket.closed().await.0, 4401);
}

/// The end of a token comes after its time, and soon.
fn has_just_ended(exp: f64) {
    let late = ends_in(0.0) - exp;
    assert!((0.0..SOON.as_secs_f64()).contains(&late), "{late} s late");
}

async fn a_token_that_expires_closes_4403() {
    let Service { app, watched, .. } = serve(AuthConfig::default()).await;
    // Long enough for both to begin, also where the machine stands still meanwhile.
    let exp = ends_in(9.0);
    let held = bearer(&token(json!({ "sub": ADA, "exp": exp })));
    let mut socket = Socket::ready_with(&app, json!({ "authorization": held })).await;
    socket.subscribe("1", "subscription { gated }").await;
    let request = app
        .request("GET", "/graphql?query=subscription{gated}")
        .header("accept", "text/event-stream");
    let events = Events::of(request.header("authorization", held)).await;
    watched.until_streams(2).await;
    assert_eq!(
        socket.closed().await,
        (4403, "the token has expired".to_owned())
    );
    has_just_ended(exp);
    let text = events.whole().await;
    has_just_ended(exp);
    assert!(
        text.contains("TOKEN_EXPIRED") && text.ends_with("event: complete\ndata:\n\n"),
        "{text}"
    );
    watched.until_streams(0).await;
}

/// Each of these waits for a time to pass, so they wait together.
#[tokio::test]
async fn a_socket_ends_with_the_last_of_its_tokens() {
    tokio::join!(
        a_ping_renews_the_token(),
        a_token_that_expires_closes_4403(),
    );
}
