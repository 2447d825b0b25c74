//! Spans in Zipkin's own form.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use svc::TracingConfig;
use svc::axum::extract::State;
use svc::axum::http::StatusCode;
use svc::axum::routing::post;
use svc::axum::{Json, Router};
use svc::trace::ExportFormat;
use svc_tests::{is_alone_with, within};

use super::shop::{SOON, TRACE, ask, things_database, traced};

/// The spans that have come.
type Received = Arc<Mutex<Vec<Value>>>;

async fn take(State(received): State<Received>, Json(spans): Json<Vec<Value>>) -> StatusCode {
    received.lock().unwrap().extend(spans);
    StatusCode::ACCEPTED
}

async fn span(received: &Received, name: &str) -> Value {
    within(Duration::from_secs(60), async || {
        let spans = received.lock().unwrap().clone();
        spans
            .iter()
            .find(|span| span["name"] == name)
            .cloned()
            .ok_or_else(|| format!("no {name} in {spans:?}"))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_spans_down_to_its_statement_for_zipkin() {
    if !is_alone_with(
        module_path!(),
        "a_request_has_spans_down_to_its_statement_for_zipkin",
        &[SOON],
    ) {
        return;
    }
    let received = Received::default();
    let router = Router::new()
        .route("/api/v2/spans", post(take))
        .with_state(received.clone());
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let endpoint = format!("http://{}/api/v2/spans", listener.local_addr().unwrap());
    tokio::spawn(async { svc::axum::serve(listener, router).await.unwrap() });

    let config = TracingConfig {
        service_name: "shop".to_owned(),
        export_format: ExportFormat::Zipkin,
        export_endpoint: Some(endpoint),
        ..TracingConfig::default()
    };
    let database = things_database().await;
    let app = traced(&database, config).await;
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let document =
        "query Things($name: String) { things(where: { name: { eq: $name } }) { id } broken }";
    let headers = [("traceparent", parent.as_str())];
    ask(
        &app,
        document,
        json!({ "name": "of secret kind" }),
        &headers,
    )
    .await;

    let request = span(&received, "POST /graphql").await;
    assert_eq!(request["traceId"], TRACE);
    assert_eq!(request["parentId"], "b7ad6b7169203331");
    assert_eq!(request["kind"], "SERVER");
    assert_eq!(request["localEndpoint"], json!({ "serviceName": "shop" }));
    assert_eq!(request["tags"]["http.response.status_code"], "200");
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_micros();
    let (began, took) = (
        request["timestamp"].as_u64().unwrap(),
        request["duration"].as_u64().unwrap(),
    );
    assert!(
        took > 0 && u128::from(began + took) <= now && now - u128::from(began) < 120_000_000,
        "{request}"
    );

    let operation = span(&received, "query").await;
    assert_eq!(operation["parentId"], request["id"]);
    assert_eq!(operation.get("kind"), None);
    let field = span(&received, "Query.things").await;
    let statement = span(&received, "SELECT v_thing").await;
    assert_eq!(
        (&field["parentId"], &statement["parentId"]),
        (&operation["id"], &field["id"])
    );
    assert_eq!(statement["kind"], "CLIENT");
    assert_eq!(statement["tags"]["db.collection.name"], "v_thing");
    let failed = span(&received, "Query.broken").await;
    assert_eq!(failed["tags"]["otel.status_code"], "ERROR", "{failed}");
    assert!(failed["tags"]["error"].is_string(), "{failed}");
    assert!(!format!("{:?}", received.lock().unwrap()).contains("of secret kind"));
}
