//! The traces that series name.

use svc::trace::ExportFormat;
use svc::{MetricsConfig, TracingConfig, create_svc_app, setup_metrics, setup_tracing};
use svc_tests::{App, is_alone_with};

use super::receiver::Receiver;
use super::shop::{SOON, TRACE, ask, options, things_database, to};

#[tokio::test(flavor = "multi_thread")]
async fn histograms_name_the_last_sampled_trace_of_each_bucket() {
    if !is_alone_with(
        module_path!(),
        "histograms_name_the_last_sampled_trace_of_each_bucket",
        &[SOON],
    ) {
        return;
    }
    let (database, receiver) = (things_database().await, Receiver::start().await);
    let app = create_svc_app(options(&database)).await.unwrap();
    let app = setup_metrics(app, MetricsConfig::default()).unwrap();
    let config = TracingConfig {
        export_format: ExportFormat::Jaeger,
        ..to(&receiver)
    };
    let app = App::serve_router(setup_tracing(app, config).unwrap()).await;
    let accept = "application/openmetrics-text;version=1.0.0";
    let series = async || {
        app.send(app.request("GET", "/metrics").header("accept", accept))
            .await
            .text
    };

    let unsampled = format!("00-{TRACE}-b7ad6b7169203331-00");
    ask(
        &app,
        "query Things { things { id } }",
        svc::serde_json::json!({}),
        &[("traceparent", &unsampled)],
    )
    .await;
    let text = series().await;
    assert!(
        text.contains("svc_graphql_query_duration_seconds_bucket") && !text.contains(" # {"),
        "{text}"
    );

    let sampled = format!("00-{TRACE}-b7ad6b7169203331-01");
    ask(
        &app,
        "query Things { things { id } }",
        svc::serde_json::json!({}),
        &[("traceparent", &sampled)],
    )
    .await;
    let text = series().await;
    for name in [
        "graphql_query_duration_seconds",
        "db_query_duration_seconds",
        "http_request_duration_seconds",
    ] {
        let trace = format!(" # {{trace_id=\"{TRACE}\"}} ");
        let lines: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with(&format!("svc_{name}_bucket")))
            .collect();
        let told: Vec<_> = lines.iter().filter(|line| line.contains(&trace)).collect();
        assert_eq!(told.len(), 1, "{name}: {lines:#?}");
        let (bucket, exemplar) = told[0].split_once(" # ").unwrap();
        let bound = bucket
            .split_once("le=\"")
            .unwrap()
            .1
            .split('"')
            .next()
            .unwrap();
        let bound = if bound == "+Inf" {
            f64::INFINITY
        } else {
            bound.parse().unwrap()
        };
        let value: f64 = exemplar.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(value <= bound, "{}", told[0]);
    }
    assert!(
        !app.get("/metrics").await.text.contains(" # {"),
        "Prometheus' own form has no place for them"
    );
    // The trace is one that Jaeger has.
    assert_eq!(
        receiver.span("POST /graphql").await.trace_id,
        hex::decode(TRACE).unwrap()
    );
}
