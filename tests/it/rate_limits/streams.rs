//! Subscriptions over HTTP, which count as any other request does.

use svc::rate_limit::RateLimit;
use svc_tests::{App, Events};

use super::service::{Beats, Clock, ask, limited, options, serve_options, wide};

const CLIENT: &str = "192.0.2.1";
const PARTS: &str = "multipart/mixed;subscriptionSpec=1.0";

/// The status and the whole body of the answer to a document.
async fn stream(app: &App, accept: &str, document: &str) -> (u16, String) {
    let body = serde_json::json!({ "query": document }).to_string();
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("accept", accept);
    let events = Events::of(request.header("x-forwarded-for", CLIENT).body(body)).await;
    (events.status, events.whole().await)
}

#[tokio::test]
async fn streams_count_for_the_path() {
    let clock = Clock::new();
    let app = serve_options(
        options().data(Beats::new()),
        limited(&clock, RateLimit::requests(3)),
    )
    .await;
    for accept in [
        "text/event-stream",
        PARTS,
        "text/event-stream, application/json",
    ] {
        let (status, text) = stream(&app, accept, "{ hello }").await;
        assert!(
            status == 200 && text.contains("world"),
            "{accept}: {status} {text}"
        );
    }
    for accept in [
        "text/event-stream",
        PARTS,
        "text/event-stream, application/json",
    ] {
        let (status, text) = stream(&app, accept, "{ hello }").await;
        assert!(
            status == 429 && text.contains("RATE_LIMITED"),
            "{accept}: {status} {text}"
        );
    }
    let get = app
        .request("GET", "/graphql?query={hello}")
        .header("accept", "text/event-stream");
    assert_eq!(
        app.send(get.header("x-forwarded-for", CLIENT)).await.status,
        429
    );
}

/// `beat` 2 in a minute, on all transports together.
#[tokio::test]
async fn subscriptions_count_for_their_kind_and_root_field() {
    let clock = Clock::new();
    let many = RateLimit::requests(1_000);
    let limiting = wide(&clock).kinds(many, many, RateLimit::requests(3));
    let app = serve_options(options().data(Beats::new()), limiting).await;
    for accept in ["text/event-stream", PARTS] {
        let (_, text) = stream(&app, accept, "subscription { beat }").await;
        assert!(text.contains("{\"beat\":true}"), "{text}");
    }
    for accept in ["text/event-stream", PARTS] {
        let (_, text) = stream(&app, accept, "subscription { beat }").await;
        assert!(
            text.contains("RATE_LIMITED") && !text.contains("true"),
            "{text}"
        );
    }
    let (status, _) = stream(
        &app,
        "text/event-stream, application/json",
        "subscription { beat }",
    )
    .await;
    assert_eq!(status, 429);
    assert_eq!(ask(&app, CLIENT, "{ hello }").await.status, 200);
}
