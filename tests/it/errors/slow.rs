//! The warning of a slow operation: its statements, as texts without values.

use std::time::{Duration, Instant};

use serde_json::json;
use svc::prelude::*;
use svc::{LogConfig, SvcConfig};
use svc_tests::{App, Log, TestDatabase, eventually, is_alone};

#[svc_type(sql_source = "v_slow")]
struct Slow {
    id: i32,
    name: String,
}

#[svc::query]
async fn slows() -> Vec<Slow>;

#[svc::query]
async fn many(ctx: &Context<'_>) -> Result<i32> {
    let mut transaction = ctx.db().transaction().await?;
    for _ in 0..200 {
        transaction.execute("SELECT 'a secret'", []).await?;
    }
    transaction.execute("SELECT pg_sleep(0.2)", []).await?;
    Ok(1)
}

const SQL: &str = "
    CREATE VIEW v_slow AS SELECT n AS id, 'name ' || n AS name
    FROM generate_series(1, 2) AS n WHERE pg_sleep(1.1) IS NOT NULL;";

async fn service(slow_operation: Duration) -> (TestDatabase, App, Log) {
    let database = TestDatabase::new(SQL).await;
    let log = Log::start();
    let log_config = LogConfig {
        slow_operation: Some(slow_operation),
        ..LogConfig::default()
    };
    let config = SvcConfig {
        log: log_config,
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .database_url(database.url())
        .queries(queries![slows, many]);
    (database, App::serve(options).await, log)
}

#[tokio::test]
async fn a_slow_operation_is_logged_with_statements_but_no_values() {
    if !is_alone(
        module_path!(),
        "a_slow_operation_is_logged_with_statements_but_no_values",
    ) {
        return;
    }
    // What is not slow stays below it on a machine that is busy.
    let slow = Duration::from_secs(1);
    let (_database, app, log) = service(slow).await;
    let document = "query Sleepy($name: String) { slows(where: {name: {eq: $name}}) { id } }";
    app.query_with(document, json!({ "name": "name 1" }))
        .await
        .data();
    log.has("a slow operation").await;
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("a slow operation"))
        .unwrap_or_else(|| panic!("{text}"));
    for part in [
        "WARN svc::slow",
        "operation=\"Sleepy\"",
        "kind=\"query\"",
        "statements=1",
        "v_slow",
        "$1",
        "1x ",
    ] {
        assert!(line.contains(part), "no {part} in {line}");
    }
    assert!(!line.contains("name 1"), "{line}");
    let warnings = || log.text().matches("a slow operation").count();
    // An operation that nothing holds up is not slow, except where the machine stands still
    // meanwhile.
    eventually(async || {
        let (before, asked) = (warnings(), Instant::now());
        app.query("{ __typename }").await.data();
        if asked.elapsed() > slow {
            return Err(format!("it has taken {:?}", asked.elapsed()));
        }
        assert_eq!(warnings(), before);
        Ok(())
    })
    .await;
    assert!(
        !log.text().contains("svc::request"),
        "the log of requests is another setting"
    );
}

#[tokio::test]
async fn the_slow_warning_is_bounded_and_omits_sql_of_the_program() {
    if !is_alone(
        module_path!(),
        "the_slow_warning_is_bounded_and_omits_sql_of_the_program",
    ) {
        return;
    }
    let (_database, app, log) = service(Duration::from_millis(50)).await;
    app.query("query Many { many }").await.data();
    log.has("a slow operation").await;
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("a slow operation"))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.contains("statements=201") && line.contains("201x"),
        "{line}"
    );
    assert!(
        line.contains("SQL of the program's own")
            && line.len() < 2_000
            && !line.contains("a secret"),
        "{line}"
    );
}
