//! Subscriptions over HTTP: server-sent events and multipart, and the cases of the tests of
//! graphql-sse's own handler.

use serde_json::{Value, json};
use svc_tests::Events;
use svc_tests::raw::PATIENCE;
use tokio::time::timeout;

use super::service::serve;

const EVENTS: &str = "text/event-stream";
const PARTS: &str = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0";

#[tokio::test]
async fn a_query_is_one_event_and_completes() {
    let (app, _) = serve().await;
    let events = Events::post(&app, EVENTS, "{ hello }").await;
    assert_eq!(
        (events.status, events.content_type.as_str()),
        (200, "text/event-stream; charset=utf-8")
    );
    let whole = events.whole().await;
    assert_eq!(
        whole,
        ":\n\nevent: next\ndata: {\"data\":{\"hello\":\"hello, world\"}}\n\nevent: complete\ndata:\n\n"
    );
}

#[tokio::test]
async fn a_subscription_is_an_event_for_each_and_completes() {
    let (app, watched) = serve().await;
    let query = "subscription { ticks(count: 2) }";
    let expected = ":\n\nevent: next\ndata: {\"data\":{\"ticks\":1}}\n\n\
                    event: next\ndata: {\"data\":{\"ticks\":2}}\n\nevent: complete\ndata:\n\n";
    assert_eq!(
        Events::post(&app, EVENTS, query).await.whole().await,
        expected
    );
    let path = "/graphql?query=subscription%7Bticks(count:2)%7D";
    let request = app.request("GET", path).header("accept", EVENTS);
    assert_eq!(Events::of(request).await.whole().await, expected);
    watched.until_streams(0).await;
}

#[tokio::test]
async fn errors_are_sent_as_events() {
    let (app, _) = serve().await;
    for (query, code) in [
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        (
            "subscription { forever ticks(count: 1) }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        ("subscription { refused }", "FORBIDDEN"),
    ] {
        let events = Events::post(&app, EVENTS, query).await;
        assert_eq!(events.status, 200);
        let whole = events.whole().await;
        assert!(
            whole.contains(code) && whole.ends_with("event: complete\ndata:\n\n"),
            "{whole}"
        );
    }
}

/// A body that is not a request has a status, as it has for any other client.
#[tokio::test]
async fn malformed_requests_get_an_error_status() {
    let (app, _) = serve().await;
    let post = |body: &str| {
        app.request("POST", "/graphql")
            .header("accept", EVENTS)
            .body(body.to_owned())
    };
    let json = |body: &str| post(body).header("content-type", "application/json");
    for (request, status) in [
        (json("{"), 400),
        (json("{}"), 400),
        (json("[]"), 400),
        (post("{}"), 415),
        (app.request("GET", "/graphql").header("accept", EVENTS), 400),
        (
            app.request("GET", "/graphql?query={hello}&variables=x")
                .header("accept", EVENTS),
            400,
        ),
        (
            app.request("GET", "/graphql?query=mutation{bump}")
                .header("accept", EVENTS),
            405,
        ),
        (app.request("PUT", "/graphql").header("accept", EVENTS), 405),
        (
            app.request("DELETE", "/graphql").header("accept", EVENTS),
            405,
        ),
    ] {
        let events = Events::of(request).await;
        assert_eq!(events.status, status);
        assert!(
            events.content_type.starts_with("application/json"),
            "{}",
            events.content_type
        );
    }
}

#[tokio::test]
async fn a_disconnect_ends_the_subscription() {
    let (app, watched) = serve().await;
    for accept in [EVENTS, PARTS] {
        let mut events = Events::post(&app, accept, "subscription { forever }").await;
        events.until("forever").await;
        watched.until_streams(1).await;
        drop(events);
        watched.until_streams(0).await;
    }
}

#[tokio::test]
async fn multipart_has_a_part_for_each_event() {
    let (app, _) = serve().await;
    let events = Events::post(&app, PARTS, "subscription { ticks(count: 2) }").await;
    let expected = "multipart/mixed;boundary=\"graphql\";subscriptionSpec=\"1.0\"";
    assert_eq!(
        (events.status, events.content_type.as_str()),
        (200, expected)
    );
    let part = |tick: i32| {
        format!(
            "\r\ncontent-type: application/json\r\n\r\n{{\"payload\":{{\"data\":{{\"ticks\":{tick}}}}}}}\r\n--graphql"
        )
    };
    assert_eq!(
        events.whole().await,
        format!("\r\n--graphql{}{}--\r\n", part(1), part(2))
    );
}

/// A client that takes a stream and JSON gets a stream for a subscription, and JSON for anything
/// else.
#[tokio::test]
async fn the_operation_decides_between_a_stream_and_json() {
    let (app, _) = serve().await;
    for stream in [EVENTS, PARTS] {
        for accept in [
            format!("{stream}, application/json"),
            format!("application/json, {stream};q=0.1"),
        ] {
            let query = Events::post(&app, &accept, "{ seen(header: \"x\") }").await;
            assert!(
                query.content_type.starts_with("application/json"),
                "{accept}: {}",
                query.content_type
            );
            assert!(query.whole().await.contains("HttpPost none"));
            let wrong = Events::post(&app, &accept, "subscription { nothing }").await;
            assert!(
                wrong.content_type.starts_with("application/json"),
                "{accept}: {}",
                wrong.content_type
            );
            let subscription =
                Events::post(&app, &accept, "subscription { ticks(count: 1) }").await;
            assert_eq!(
                subscription.content_type.split(';').next(),
                stream.split(';').next(),
                "{accept}"
            );
        }
    }
    let only = Events::post(&app, EVENTS, "{ seen(header: \"x\") }").await;
    assert!(only.whole().await.contains("EventStream none"));
}

#[tokio::test]
async fn a_subscription_needs_a_stream() {
    let (app, _) = serve().await;
    for accept in [
        "application/json",
        "*/*",
        "multipart/mixed, application/json",
    ] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let body = json!({ "query": "subscription { forever }" }).to_string();
        let reply = app.send(request.header("accept", accept).body(body)).await;
        assert_eq!(
            (reply.code().as_str(), reply.json().get("data")),
            ("BAD_REQUEST", None)
        );
        assert!(
            reply.message().contains("text/event-stream"),
            "{}",
            reply.message()
        );
    }
    let reply = app.get("/graphql?query=subscription{forever}").await;
    assert!(
        reply.message().contains("text/event-stream"),
        "{}",
        reply.message()
    );
}

#[tokio::test]
async fn streams_are_neither_cached_nor_buffered() {
    let (app, _) = serve().await;
    let request = app
        .request("GET", "/graphql?query={hello}")
        .header("accept", EVENTS);
    let response = app.send(request).await;
    for (name, value) in [
        ("cache-control", "private, no-store"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!(response.headers[name].to_str().unwrap(), value);
    }
    assert!(
        response.headers["vary"]
            .to_str()
            .unwrap()
            .contains("Accept")
    );
}

/// The same over HTTP/2, where one connection has many streams.
#[tokio::test]
async fn streams_share_a_connection_of_http2() {
    let (app, watched) = serve().await;
    let stream = tokio::net::TcpStream::connect(app.address()).await.unwrap();
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut bodies = Vec::new();
    for _ in 0..20 {
        client = client.ready().await.unwrap();
        let uri = format!(
            "http://{}/graphql?query=subscription%7Bforever%7D",
            app.address()
        );
        let request = http::Request::get(uri)
            .header("accept", EVENTS)
            .body(())
            .unwrap();
        let (response, _) = client.send_request(request, true).unwrap();
        let response = timeout(PATIENCE, response).await;
        bodies.push(response.expect("no answer in time").unwrap().into_body());
    }
    for body in &mut bodies {
        let mut text = String::new();
        while !text.contains("forever") {
            let part = timeout(PATIENCE, body.data()).await;
            let part = part.expect("no part in time").unwrap().unwrap();
            text.push_str(std::str::from_utf8(&part).unwrap());
        }
    }
    watched.until_streams(20).await;
    drop(bodies);
    watched.until_streams(0).await;
    connection.abort();
}

#[tokio::test]
async fn a_stream_that_panics_ends_with_an_error() {
    let (app, _) = serve().await;
    let whole = Events::post(&app, EVENTS, "subscription { broken }")
        .await
        .whole()
        .await;
    let events: Vec<Value> = whole
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .collect();
    assert_eq!(events[0], json!({ "data": { "broken": 1 } }));
    assert_eq!(events[1]["errors"][0]["message"], "internal server error");
    assert!(whole.ends_with("event: complete\ndata:\n\n"), "{whole}");
}
