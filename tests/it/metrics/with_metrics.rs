//! The collector in the hands of a program.

use svc::metrics::with_metrics;
use svc::prelude::*;
use svc::{MetricsConfig, get_metrics};
use svc_tests::{App, is_alone};

use super::series::Series;
use super::shop::{shop, things_database};

#[with_metrics]
async fn nightly_report(lines: &[i32]) -> Result<i32> {
    let first = lines
        .first()
        .ok_or_else(|| Error::new(ErrorCode::NotFound, "no line"))?;
    if *first < 0 {
        return Ok(0);
    }
    Ok(lines.iter().sum())
}

/// The source of an import.
struct Source(u16);

impl Source {
    #[with_metrics(operation_type = "mutation", name = "importThings")]
    async fn import(&mut self, text: &str) -> std::result::Result<u16, Box<dyn std::error::Error>> {
        self.0 += text.parse::<u16>()?;
        Ok(self.0)
    }
}

#[tokio::test]
async fn an_attribute_counts_the_calls_of_a_function() {
    if !is_alone(
        module_path!(),
        "an_attribute_counts_the_calls_of_a_function",
    ) {
        return;
    }
    assert_eq!(
        nightly_report(&[1]).await.unwrap(),
        1,
        "it runs where nobody counts"
    );
    let database = things_database().await;
    let app =
        App::serve_router(shop(&database, SvcConfig::default(), MetricsConfig::default()).await)
            .await;
    assert_eq!(nightly_report(&[1, 2]).await.unwrap(), 3);
    assert_eq!(nightly_report(&[-1, 2]).await.unwrap(), 0);
    assert!(nightly_report(&[]).await.is_err());
    let mut source = Source(40);
    assert_eq!(source.import("2").await.unwrap(), 42);
    assert!(source.import("two").await.is_err());
    Series::of(&app).await.assert(&[
        (r#"svc_graphql_queries_success_total{operation_type="query",operation_name="nightly_report"}"#, 2.0),
        (r#"svc_graphql_queries_errors_total{operation_type="query",operation_name="nightly_report"}"#, 1.0),
        (r#"svc_graphql_queries_success_total{operation_type="mutation",operation_name="importThings"}"#, 1.0),
        (r#"svc_graphql_queries_errors_total{operation_type="mutation",operation_name="importThings"}"#, 1.0),
    ]);
}

#[tokio::test]
async fn a_program_counts_work_of_its_own() {
    if !is_alone(module_path!(), "a_program_counts_work_of_its_own") {
        return;
    }
    assert!(get_metrics().is_none(), "there is none before it is set up");
    assert_eq!(
        with_metrics("query", "early", async { Ok::<_, ()>(1) }).await,
        Ok(1)
    );
    let database = things_database().await;
    let app =
        App::serve_router(shop(&database, SvcConfig::default(), MetricsConfig::default()).await)
            .await;
    let metrics = get_metrics().unwrap();
    assert_eq!(
        with_metrics("query", "report", async { Ok::<_, ()>(1) }).await,
        Ok(1)
    );
    assert_eq!(
        with_metrics("query", "report", async { Err::<(), _>("no") }).await,
        Err("no")
    );
    metrics.record_query("mutation", "import", 250.0, true);
    metrics.record_mutation("import", Ok("Imported"));
    metrics.record_db_query("copy", "tb_import", 1_500.0);
    metrics.record_cache_hit("rates");
    metrics.record_cache_miss("rates");
    metrics.record_error("import", "BAD \"LINE\"\n", "import");
    Series::of(&app).await.assert(&[
        (r#"svc_graphql_queries_total{operation_type="query",operation_name="report"}"#, 2.0),
        (r#"svc_graphql_queries_errors_total{operation_type="query",operation_name="report"}"#, 1.0),
        (r#"svc_graphql_queries_total{operation_type="query",operation_name="early"}"#, 0.0),
        (r#"svc_graphql_query_duration_seconds_sum{operation_type="mutation",operation_name="import"}"#, 0.25),
        (r#"svc_graphql_mutations_success_total{mutation_name="import",result_type="Imported"}"#, 1.0),
        (r#"svc_db_query_duration_seconds_bucket{le="1.0",query_type="copy",table_name="tb_import"}"#, 0.0),
        (r#"svc_db_query_duration_seconds_bucket{le="2.5",query_type="copy",table_name="tb_import"}"#, 1.0),
        (r#"svc_cache_hits_total{cache_type="rates"}"#, 1.0),
        (r#"svc_cache_misses_total{cache_type="rates"}"#, 1.0),
        (r#"svc_errors_total{error_type="import",error_code="BAD \"LINE\"\n",operation="import"}"#, 1.0),
    ]);
}
