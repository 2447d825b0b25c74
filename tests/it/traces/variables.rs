//! The variables of OpenTelemetry, as a program gets them.

use svc::TracingConfig;
use svc_tests::is_alone_with;

use super::receiver::Receiver;
use super::shop::{SOON, things_database, traced};

#[tokio::test(flavor = "multi_thread")]
async fn the_variables_of_opentelemetry_configure_the_export() {
    const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let free = svc_embedded::free_port().unwrap();
    let settings = [
        SOON,
        (ENDPOINT, &format!("http://127.0.0.1:{free}")),
        ("OTEL_SERVICE_NAME", "by variables"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.version=7,team=blue"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-token=let-me-in"),
        ("SVC_ENVIRONMENT", "production"),
    ];
    if !is_alone_with(
        module_path!(),
        "the_variables_of_opentelemetry_configure_the_export",
        &settings,
    ) {
        return;
    }
    let address = std::env::var(ENDPOINT).unwrap();
    let receiver = Receiver::on(address.trim_start_matches("http://").parse().unwrap()).await;
    let database = things_database().await;
    let app = traced(&database, TracingConfig::from_env().unwrap()).await;
    app.query("{ things(limit: 1) { id } }").await;
    receiver.span("POST /graphql").await;
    assert_eq!(receiver.headers()["x-token"], "let-me-in");
    let resource = receiver.resource();
    assert_eq!(resource["service.name"], "by variables");
    assert_eq!(resource["service.version"], "7");
    assert_eq!(resource["team"], "blue");
    assert_eq!(resource["deployment.environment.name"], "production");
}
