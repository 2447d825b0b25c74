//! The context of a trace: from where it comes, and where it goes.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use svc::TracingConfig;
use svc_tests::{Log, is_alone_with};

use super::receiver::{Receiver, attributes};
use super::shop::{SOON, TRACE, ask, things_database, to, traced};

#[tokio::test(flavor = "multi_thread")]
async fn the_parent_decides_sampling_and_context_is_propagated() {
    if !is_alone_with(
        module_path!(),
        "the_parent_decides_sampling_and_context_is_propagated",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    // Without a parent nothing is sampled.
    let app = traced(
        &database,
        TracingConfig {
            sample_rate: 0.0,
            ..to(&receiver)
        },
    )
    .await;
    app.query("{ things { id } }").await;
    app.get("/health").await;
    let unsampled = format!("00-{TRACE}-b7ad6b7169203331-00");
    let headers = ask(
        &app,
        "{ outgoing }",
        json!({}),
        &[("traceparent", &unsampled)],
    )
    .await;
    assert!(
        headers.contains(&format!("traceparent: 00-{TRACE}-")) && headers.contains("-00\""),
        "{headers}"
    );

    let sampled = "00-11111111111111111111111111111111-b7ad6b7169203331-01";
    let headers = [
        ("traceparent", sampled),
        ("tracestate", "vendor=1"),
        ("baggage", "tenant=blue"),
    ];
    let health = app
        .send(app.request("GET", "/health").header("traceparent", sampled))
        .await;
    assert_eq!(health.status, 200);
    let headers = ask(&app, "{ outgoing }", json!({}), &headers).await;
    assert!(
        headers.contains("tracestate: vendor=1") && headers.contains("baggage: tenant=blue"),
        "{headers}"
    );

    let request = receiver.span("POST /graphql").await;
    assert_eq!(
        receiver.tree(&request.trace_id),
        "POST /graphql\n  query\n    Query.outgoing\n"
    );
    assert_eq!(
        receiver.spans().len(),
        3,
        "nothing else was sampled: {:?}",
        receiver.spans()
    );
    let field = hex::encode(receiver.span("Query.outgoing").await.span_id);
    let expected = format!("traceparent: 00-11111111111111111111111111111111-{field}-01");
    assert!(headers.contains(&expected), "{headers} has no {expected}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sampled_and_unsampled_traces_are_propagated() {
    if !is_alone_with(
        module_path!(),
        "sampled_and_unsampled_traces_are_propagated",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    let app = traced(
        &database,
        TracingConfig {
            sample_rate: 0.5,
            ..to(&receiver)
        },
    )
    .await;
    let (mut sampled, mut others) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..64 {
        let answer: Value =
            serde_json::from_str(&ask(&app, "{ outgoing }", json!({}), &[]).await).unwrap();
        let parent = answer["data"]["outgoing"][0].as_str().unwrap();
        let [_, trace, span, flags] = parent.split('-').collect::<Vec<_>>()[..] else {
            panic!("{parent}")
        };
        assert!(
            trace.len() == 32 && trace != "0".repeat(32) && span != "0".repeat(16),
            "{parent}"
        );
        let kind = if flags == "01" {
            &mut sampled
        } else {
            &mut others
        };
        assert!(kind.insert(trace.to_owned()), "{trace} comes twice");
    }
    // Of 64 tosses, one side comes up less than 8 times once in a thousand million runs.
    assert!(
        sampled.len() >= 8 && others.len() >= 8 && sampled.is_disjoint(&others),
        "{sampled:?} {others:?}"
    );
    svc_tests::eventually(async || {
        let spans = receiver
            .spans()
            .into_iter()
            .filter(|span| span.name == "POST /graphql");
        let traces: BTreeSet<_> = spans.map(|span| hex::encode(span.trace_id)).collect();
        if traces == sampled {
            Ok(())
        } else {
            Err(format!("{traces:?} and not {sampled:?}"))
        }
    })
    .await;
}

// On one thread, whose log is kept.
#[tokio::test]
async fn errors_are_found_in_the_log_by_the_trace() {
    if !is_alone_with(
        module_path!(),
        "errors_are_found_in_the_log_by_the_trace",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    let app = traced(&database, to(&receiver)).await;
    let logged = Log::start();
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let answer = ask(&app, "{ broken }", json!({}), &[("traceparent", &parent)]).await;
    logged.has(&format!("trace_id=\"{TRACE}\"")).await;
    let field = receiver.span("Query.broken").await;
    assert_eq!(
        attributes(&field.attributes)["error.type"],
        "INTERNAL_SERVER_ERROR"
    );
    assert!(!format!("{field:?}").contains("on fire"));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let id = answer["errors"][0]["extensions"]["errorId"]
        .as_str()
        .unwrap();
    let operation = receiver.span("query").await;
    assert_eq!(attributes(&operation.attributes)["svc.error.id"], id);
    assert_eq!(
        attributes(&operation.events[0].attributes)["svc.error.id"],
        id
    );
    assert!(!format!("{operation:?}").contains("on fire"));
}
