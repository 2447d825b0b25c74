//! A service without its database starts, says so, and recovers by itself.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc::prelude::*;
use svc_embedded::{Database, Options};
use svc_tests::App;

#[svc_type(sql_source = "v_away")]
struct Row {
    id: i32,
}

#[svc_type]
impl Row {
    fn twice(&self) -> i32 {
        self.id * 2
    }
}

#[svc::query]
async fn rows() -> Vec<Row>;
#[svc::query]
async fn row(id: i32) -> Option<Row>;
#[svc::query]
async fn certain(id: i32) -> Row;
#[svc::query]
fn alive() -> bool {
    true
}

const SQL: &str = "CREATE OR REPLACE VIEW v_away AS SELECT i AS id FROM generate_series(1, 2) AS i";

fn options(url: &str, environment: svc::Environment) -> AppOptions {
    // A request that waits does so for far longer than a machine that is busy takes.
    let pool_timeout = Duration::from_secs(200);
    let config = SvcConfig {
        environment,
        request_timeout: Some(Duration::from_secs(600)),
        database: svc::DatabaseConfig {
            url: Some(url.to_owned()),
            pool_timeout,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .queries(queries![rows, row, certain, alive])
}

/// Asks until the answer is as expected.
async fn eventually(app: &App, query: &str, expected: Value) {
    svc_tests::eventually(async || {
        let reply = app.query(query).await;
        if reply.json()["data"] == expected {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_starts_without_the_database_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::start(Options::new(folder.path())).await.unwrap();
    let url = database.url();
    database.stop().await;

    let app = App::serve(options(&url, svc::Environment::Development).setup_sql(SQL)).await;
    assert_eq!(
        app.get("/health").await.json(),
        json!({ "status": "healthy", "service": "svc" })
    );
    app.until_not_ready(
        "\"database\":\"failed: the database is not reachable: error connecting to server: ",
    )
    .await;
    let start = Instant::now();
    assert_eq!(
        app.query("{ rows { id } row(id: 1) { id } alive }")
            .await
            .data(),
        json!({ "rows": [], "row": null, "alive": true })
    );
    assert_eq!(
        app.query("{ rows { twice } }").await.data(),
        json!({ "rows": [] })
    );
    assert_eq!(
        app.query("{ certain(id: 1) { id } }").await.code(),
        "SERVICE_UNAVAILABLE"
    );
    assert!(
        start.elapsed() < Duration::from_secs(100),
        "requests do not wait for a database that is known to be away"
    );

    let database = Database::start(Options::new(folder.path())).await.unwrap();
    eventually(
        &app,
        "{ rows { twice } }",
        json!({ "rows": [{ "twice": 2 }, { "twice": 4 }] }),
    )
    .await;
    app.until_ready().await;

    // A restart kills every pooled connection.
    database.stop().await;
    eventually(&app, "{ rows { id } }", json!({ "rows": [] })).await;
    let database = Database::start(Options::new(folder.path())).await.unwrap();
    eventually(
        &app,
        "{ rows { id } }",
        json!({ "rows": [{ "id": 1 }, { "id": 2 }] }),
    )
    .await;
    app.stopped().await;
    database.stop().await;
}

#[tokio::test]
async fn an_unreachable_database_is_an_error_in_production() {
    let app = App::serve(options(
        "postgres://nobody:hunter2@127.0.0.1:1/none",
        svc::Environment::Production,
    ))
    .await;
    let reply = app.query("{ rows { id } }").await;
    assert_eq!(
        (reply.code().as_str(), reply.message().as_str()),
        ("SERVICE_UNAVAILABLE", "the database is not reachable")
    );
    assert_eq!(
        app.query("{ alive }").await.data(),
        json!({ "alive": true })
    );
    let ready = app.get("/ready").await;
    assert_eq!(ready.status, 503);
    assert!(!ready.text.contains("hunter2"));
}

#[tokio::test]
async fn a_missing_view_is_named_by_ready_but_not_in_responses() {
    let database = svc_tests::TestDatabase::new("").await;
    let app = App::serve(options(&database.url(), svc::Environment::Development)).await;
    let reply = app.query("{ rows { id } }").await;
    let message = "the database lacks what the service needs at present; try again later";
    assert_eq!(
        (reply.code().as_str(), reply.message().as_str()),
        ("SERVICE_UNAVAILABLE", message)
    );
    app.until_not_ready("\"schema\":\"failed: missing in the database: v_away\"")
        .await;
}
