//! The places where the series are served, and their forms.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use svc::prelude::*;
use svc::{Environment, MetricsConfig, setup_metrics};
use svc_tests::{App, client, is_alone, wait};

use super::shop::{shop, things_database};

fn production() -> SvcConfig {
    SvcConfig {
        environment: Environment::Production,
        ..SvcConfig::default()
    }
}

#[tokio::test]
async fn the_format_follows_the_accept_header_and_passes_promtool() {
    if !is_alone(
        module_path!(),
        "the_format_follows_the_accept_header_and_passes_promtool",
    ) {
        return;
    }
    let database = things_database().await;
    let app =
        App::serve_router(shop(&database, SvcConfig::default(), MetricsConfig::default()).await)
            .await;
    app.query("mutation failing { fail }").await;
    app.query("{ things { id } }").await;
    let text = app.get("/metrics").await;
    assert_eq!(
        text.headers["content-type"],
        "text/plain; version=0.0.4; charset=utf-8"
    );
    assert!(
        text.text
            .contains("# TYPE svc_graphql_queries_total counter\n"),
        "{}",
        text.text
    );
    assert_promtool_is_content(&text.text);

    let accept =
        "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let open = app
        .send(app.request("GET", "/metrics").header("accept", accept))
        .await;
    assert_eq!(
        open.headers["content-type"],
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert!(
        open.text.contains("# TYPE svc_graphql_queries counter\n"),
        "{}",
        open.text
    );
    assert!(
        open.text
            .contains("# TYPE svc_db_connections_total gauge\n"),
        "{}",
        open.text
    );
    assert!(open.text.ends_with("# EOF\n"), "{}", open.text);
}

/// Has promtool read and judge a scrape.
fn assert_promtool_is_content(text: &str) {
    use std::io::Write as _;
    let mut command = Command::new("promtool");
    command
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .expect("promtool, of the package prometheus");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = wait(child, "promtool");
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.success() && said.is_empty(),
        "promtool says: {said}\n{text}"
    );
}

#[tokio::test]
async fn production_serves_metrics_beside_graphql_only_when_enabled() {
    if !is_alone(
        module_path!(),
        "production_serves_metrics_beside_graphql_only_when_enabled",
    ) {
        return;
    }
    let database = things_database().await;
    let silent =
        App::serve_router(shop(&database, production(), MetricsConfig::default()).await).await;
    assert_eq!(silent.get("/metrics").await.status, 404);
    let asked = MetricsConfig {
        enabled: Some(true),
        metrics_path: "/inner/series".to_owned(),
        ..Default::default()
    };
    let open = App::serve_router(shop(&database, production(), asked).await).await;
    assert_eq!(open.get("/inner/series").await.status, 200);
    let off = MetricsConfig {
        enabled: Some(false),
        ..MetricsConfig::default()
    };
    let off = App::serve_router(shop(&database, SvcConfig::default(), off).await).await;
    assert_eq!(off.get("/metrics").await.status, 404);
}

#[tokio::test]
async fn metrics_can_be_served_on_a_separate_address() {
    if !is_alone(
        module_path!(),
        "metrics_can_be_served_on_a_separate_address",
    ) {
        return;
    }
    let database = things_database().await;
    let address = SocketAddr::from(([127, 0, 0, 1], svc_embedded::free_port().unwrap()));
    let metrics = MetricsConfig {
        address: Some(address),
        ..MetricsConfig::default()
    };
    let app = App::serve_router(shop(&database, production(), metrics.clone()).await).await;
    assert_eq!(app.get("/metrics").await.status, 404);
    app.query("{ broken }").await;
    let text = client()
        .get(format!("http://{address}/metrics"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(text.contains("OUT_OF_STOCK"), "{text}");

    let taken = setup_metrics(svc::axum::Router::new(), metrics)
        .unwrap_err()
        .to_string();
    assert!(
        taken.contains("cannot serve metrics on") && taken.contains("SVC_METRICS_ADDR"),
        "{taken}"
    );
}

#[test]
fn settings_that_cannot_be_used_are_errors() {
    let namespace = MetricsConfig {
        namespace: "my-shop".to_owned(),
        ..MetricsConfig::default()
    };
    let error = setup_metrics(svc::axum::Router::new(), namespace)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("SVC_METRICS_NAMESPACE is \"my-shop\""),
        "{error}"
    );
    let path = MetricsConfig {
        metrics_path: "metrics".to_owned(),
        ..MetricsConfig::default()
    };
    let error = setup_metrics(svc::axum::Router::new(), path)
        .unwrap_err()
        .to_string();
    assert!(error.contains("SVC_METRICS_PATH is \"metrics\""), "{error}");
}
