//! The number of series, whatever clients make up.

use std::fmt::Write as _;

use svc::MetricsConfig;
use svc::axum::http::Method;
use svc::prelude::*;
use svc_tests::{App, cases, is_alone};

use super::series::Series;
use super::shop::{shop, things_database};

/// The number of random names of operations in every run, and in the long suite.
const NAMES: u64 = 4_000;
const LONG: u64 = 100_000;
/// The number of operations in a request.
const IN_BATCH: usize = 500;
/// The most names that have series of their own.
const MAX_OPERATIONS: u32 = 50;

#[tokio::test]
async fn random_names_of_operations_make_a_bounded_number_of_series() {
    if !is_alone(
        module_path!(),
        "random_names_of_operations_make_a_bounded_number_of_series",
    ) {
        return;
    }
    let names_sent = usize::try_from(cases("OPERATION_NAMES", NAMES, LONG)).unwrap();
    let database = things_database().await;
    let protection = svc::ProtectionConfig {
        batch_max: IN_BATCH,
        ..svc::ProtectionConfig::default()
    };
    let config = SvcConfig {
        protection,
        ..SvcConfig::default()
    };
    let metrics = MetricsConfig {
        max_operations: MAX_OPERATIONS,
        ..MetricsConfig::default()
    };
    let app = App::serve_router(shop(&database, config, metrics).await)
        .await
        .unwatched();
    for batch in 0..names_sent / IN_BATCH {
        let mut body = String::from("[");
        for entry in 0..IN_BATCH {
            let comma = if entry == 0 { "" } else { "," };
            let _ = write!(
                body,
                r#"{comma}{{"query":"query name{batch}x{entry} {{ __typename }}"}}"#
            );
        }
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .body(body + "]");
        assert_eq!(app.send(request).await.status, 200);
    }
    let long = "x".repeat(5_000);
    app.query(&format!("query {long} {{ __typename }}"))
        .await
        .data();
    app.query("query registeredThings { things(limit: 1) { id } }")
        .await
        .data();
    for made_up in 0..100 {
        let method = Method::from_bytes(format!("METHOD{made_up}").as_bytes()).unwrap();
        app.send(app.request(method.as_str(), &format!("/made-up/{made_up}")))
            .await;
    }
    app.send(app.request("QUERY", "/made-up")).await;
    let series = Series::of(&app).await;
    let names = series
        .0
        .keys()
        .filter(|series| series.starts_with("svc_graphql_queries_total{"))
        .count();
    assert_eq!(
        names,
        MAX_OPERATIONS as usize + 2,
        "the first ones, `other`, and the one that is registered"
    );
    assert_eq!(
        series.sum("svc_graphql_queries_total"),
        (names_sent + 2) as f64
    );
    let other = r#"svc_graphql_queries_total{operation_type="query",operation_name="other"}"#;
    assert_eq!(
        series.value(other),
        (names_sent + 1 - MAX_OPERATIONS as usize) as f64
    );
    let registered =
        r#"svc_graphql_queries_total{operation_type="query",operation_name="registeredThings"}"#;
    assert_eq!(
        series.value(registered),
        1.0,
        "a registered operation keeps its name, however late it comes"
    );
    let made_up = r#"svc_http_requests_total{method="other",endpoint="unmatched",status="404"}"#;
    assert_eq!(series.value(made_up), 100.0);
    let query = r#"svc_http_requests_total{method="QUERY",endpoint="unmatched",status="404"}"#;
    assert_eq!(series.value(query), 1.0);
    assert!(series.0.len() < 3_000, "{} samples", series.0.len());
}
