//! The spans of a request, and how they are sent.

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;
use svc::TracingConfig;
use svc::trace::ExportProtocol;
use svc_tests::is_alone_with;

use super::receiver::{Receiver, attributes};
use super::shop::{SOON, TRACE, ask, things_database, to, traced};

const TREE: &str = "POST /graphql\n  graphql.parse\n  graphql.validate\n  graphql.plan\n  query\n    Query.things\n      SELECT v_thing\n";

async fn assert_sent(receiver: &Receiver, config: TracingConfig) {
    let database = things_database().await;
    let app = traced(&database, config).await;
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let document = "query Things($name: String) { things(where: { name: { eq: $name } }) { id } }";
    let headers = [("traceparent", parent.as_str()), ("tracestate", "vendor=1")];
    let answer = ask(
        &app,
        document,
        json!({ "name": "of secret kind" }),
        &headers,
    )
    .await;
    assert!(answer.contains("\"data\""), "{answer}");

    let request = receiver.span("POST /graphql").await;
    assert_eq!(receiver.tree(&request.trace_id), TREE);
    assert_eq!(request.trace_id, hex::decode(TRACE).unwrap());
    assert_eq!(
        request.parent_span_id,
        hex::decode("b7ad6b7169203331").unwrap()
    );
    assert_eq!(request.trace_state, "vendor=1");
    assert_eq!(request.kind(), SpanKind::Server);
    let of_request = attributes(&request.attributes);
    assert_eq!(of_request["http.route"], "/graphql");
    assert_eq!(of_request["http.request.method"], "POST");
    assert_eq!(of_request["http.response.status_code"], "200");

    let operation = attributes(&receiver.span("query").await.attributes);
    assert_eq!(operation["graphql.operation.name"], "Things");
    assert_eq!(operation["graphql.operation.type"], "query");

    let statement = receiver.span("SELECT v_thing").await;
    assert_eq!(statement.kind(), SpanKind::Client);
    let statement = attributes(&statement.attributes);
    assert_eq!(statement["db.system"], "postgresql");
    assert_eq!(statement["db.system.name"], "postgresql");
    assert_eq!(statement["db.collection.name"], "v_thing");
    assert_eq!(statement["db.query.summary"], "SELECT v_thing");
    assert!(statement["db.statement"].contains("$1"), "{statement:?}");
    assert_eq!(statement["db.statement"], statement["db.query.text"]);
    assert!(!format!("{:?}", receiver.spans()).contains("of secret kind"));
    assert_eq!(receiver.resource()["service.name"], "shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_spans_down_to_its_statement_over_http() {
    if !is_alone_with(
        module_path!(),
        "a_request_has_spans_down_to_its_statement_over_http",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    assert_sent(&receiver, to(&receiver)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_spans_down_to_its_statement_over_grpc() {
    if !is_alone_with(
        module_path!(),
        "a_request_has_spans_down_to_its_statement_over_grpc",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    assert_sent(
        &receiver,
        TracingConfig {
            protocol: ExportProtocol::Grpc,
            ..to(&receiver)
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_waits_for_a_collector_that_never_answers() {
    if !is_alone_with(
        module_path!(),
        "no_request_waits_for_a_collector_that_never_answers",
        &[SOON],
    ) {
        return;
    }
    let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let database = things_database().await;
    let config = TracingConfig {
        export_endpoint: Some(endpoint),
        ..TracingConfig::default()
    };
    let app = traced(&database, config).await;
    // With four spans each, they fill the queue of 2,048 more than once.
    let asking = async {
        for _ in 0..1_100 {
            ask(&app, "{ things(limit: 1) { id } }", json!({}), &[]).await;
        }
    };
    // A batch waits ten seconds for the collector.
    tokio::time::timeout(std::time::Duration::from_secs(300), asking)
        .await
        .unwrap();
}
