//! The traces of what comes on a socket, where no request is around it.

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;
use svc_tests::{Log, Socket, eventually, is_alone_with};

use super::receiver::{Receiver, attributes};
use super::shop::{SOON, things_database, to, traced};

#[tokio::test(flavor = "multi_thread")]
async fn each_operation_and_each_event_has_a_trace_and_events_are_linked() {
    if !is_alone_with(
        module_path!(),
        "each_operation_and_each_event_has_a_trace_and_events_are_linked",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    let app = traced(&database, to(&receiver)).await;
    let mut socket = Socket::ready(&app).await;
    socket
        .subscribe("1", "subscription Ticking { ticks(count: 3) }")
        .await;
    for tick in 1..=3 {
        assert_eq!(
            socket.next().await["payload"],
            json!({ "data": { "ticks": tick } })
        );
    }
    assert_eq!(socket.next().await["type"], "complete");
    let subscribed = receiver.span("subscription").await;
    assert_eq!(
        (subscribed.kind(), subscribed.parent_span_id.is_empty()),
        (SpanKind::Server, true)
    );
    assert_eq!(
        attributes(&subscribed.attributes)["graphql.operation.name"],
        "Ticking"
    );
    let events = eventually(async || {
        let events: Vec<_> = receiver
            .spans()
            .into_iter()
            .filter(|span| span.name == "Subscription.ticks" && !span.links.is_empty())
            .collect();
        if events.len() == 3 {
            Ok(events)
        } else {
            Err(format!("{events:?}"))
        }
    })
    .await;
    for event in &events {
        assert_eq!(event.links[0].span_id, subscribed.span_id);
        assert_eq!(event.links[0].trace_id, subscribed.trace_id);
        assert_ne!(event.trace_id, subscribed.trace_id);
        assert!(event.parent_span_id.is_empty(), "{event:?}");
    }
    // The socket is open, and the span of the subscription has ended.
    socket.subscribe("2", "{ things(limit: 1) { id } }").await;
    assert_eq!(
        socket.next().await["payload"]["data"]["things"],
        json!([{ "id": 1 }])
    );
    let query = receiver.span("query").await;
    assert_eq!(
        receiver.tree(&query.trace_id),
        "query\n  Query.things\n    SELECT v_thing\n"
    );
}

// On one thread, whose log is kept.
#[tokio::test]
async fn errors_of_events_are_found_in_the_log_by_the_trace() {
    if !is_alone_with(
        module_path!(),
        "errors_of_events_are_found_in_the_log_by_the_trace",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    let app = traced(&database, to(&receiver)).await;
    let logged = Log::start();
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "subscription { breaking }").await;
    let told = socket.next().await["payload"]["errors"][0]["extensions"].take();
    let id = told["errorId"]
        .as_str()
        .unwrap_or_else(|| panic!("no errorId in {told}"));
    let event = eventually(async || {
        let spans = receiver.spans();
        let event = spans
            .iter()
            .find(|span| span.name == "Subscription.breaking" && !span.links.is_empty());
        event.cloned().ok_or_else(|| format!("{spans:?}"))
    })
    .await;
    assert_eq!(attributes(&event.attributes)["svc.error.id"], id);
    logged
        .has(&format!("trace_id=\"{}\"", hex::encode(&event.trace_id)))
        .await;
    assert!(logged.text().contains(id), "{}", logged.text());
}
