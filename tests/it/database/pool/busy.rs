//! Connections that are in use or do not answer: what clients and probes are told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use svc::prelude::*;
use svc::sqlx;
use svc_embedded::{Database, Options};
use svc_tests::{App, Flow, Frozen, Log, Proxy, TestDatabase};

use super::{SQL, options, rows, serve, sleep, two_rows};

/// One connection, for which requests wait for a second, and so many seconds for a statement.
fn busy(query_timeout: u64) -> SvcConfig {
    SvcConfig {
        database: svc::DatabaseConfig {
            query_timeout: Duration::from_secs(query_timeout),
            pool_size: 1,
            pool_timeout: Duration::from_secs(1),
            ..svc::DatabaseConfig::default()
        },
        request_timeout: Some(Duration::from_secs(600)),
        ..SvcConfig::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_statement_is_a_timeout() {
    let (_database, app) = serve(busy(2)).await;
    app.until_ready().await;
    // Where PostgreSQL is late to cancel it, or the connection to come, it is not known to be slow.
    let slow = svc_tests::eventually(async || match app.query("{ sleep { id } }").await {
        slow if slow.code() == "SERVICE_UNAVAILABLE" => Err(slow.text),
        slow => Ok(slow),
    })
    .await;
    let expected = (
        "TIMEOUT",
        "the statement was cancelled because it took too long",
    );
    assert_eq!((slow.code().as_str(), slow.message().as_str()), expected);
    app.until_data("{ rows { id name } }", &two_rows()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_pool_is_unavailable_and_named_by_ready() {
    let (database, app) = serve(busy(300)).await;
    app.until_ready().await;
    let (slow, ()) = tokio::join!(app.query("{ sleep { id } }"), async {
        database.until_running("v_sleep", 1).await;
        let busy = app.query("{ rows { id } }").await;
        let expected = ("SERVICE_UNAVAILABLE", "all database connections are busy");
        assert_eq!((busy.code().as_str(), busy.message().as_str()), expected);
        until_checks(
            &app,
            "failed: all 1 connections are in use, and none came free",
        )
        .await;
        // The statement holds the connection until then, and not for a time of its own.
        database.execute(END_SLEEP).await;
    });
    assert_eq!(slow.code(), "TIMEOUT", "{}", slow.text);
    app.until_data("{ rows { id name } }", &two_rows()).await;
}

/// Ends the statement that sleeps.
const END_SLEEP: &str = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
                         AND strpos(query, 'v_sleep') > 0 AND pid <> pg_backend_pid()";

/// Waits until the database and the schema are well, and the pool says so much: on a busy machine
/// they may be late.
async fn until_checks(app: &App, pool: &str) {
    let checks = json!({ "database": "ok", "schema": "ok", "pool": pool });
    svc_tests::eventually(async || {
        let ready = app.get("/ready").await;
        let is_so = ready.status == 503 && ready.json()["checks"] == checks;
        if is_so { Ok(()) } else { Err(ready.text) }
    })
    .await;
}

/// A connection is open, and no response comes on it.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_does_not_answer_is_not_ready() {
    // A PostgreSQL of its own: a backend that stands still keeps others from creating databases.
    let database = Database::start(Options::temporary()).await.unwrap();
    let pool = sqlx::PgPool::connect(&database.url()).await.unwrap();
    sqlx::raw_sql(SQL).execute(&pool).await.unwrap();
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            pool_timeout: std::time::Duration::from_secs(1),
            query_timeout: Duration::from_secs(300),
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let app = App::serve(options(config)).await;
    app.until_ready().await;
    let asked = "SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database() AND query = 'SELECT 1' AND state = 'idle'";
    let pids: Vec<i32> = sqlx::query_scalar(asked).fetch_all(&pool).await.unwrap();
    assert!(!pids.is_empty());
    let (frozen, start) = (Frozen::new(pids), Instant::now());
    let ready = app.get("/ready").await;
    assert!(
        start.elapsed() < Duration::from_secs(100),
        "a probe waits for {:?}",
        start.elapsed()
    );
    let checks = json!({
        "database": "failed: the database is not reachable",
        "schema": "failed: the database does not answer",
        "pool": "ok",
    });
    assert_eq!((ready.status, &ready.json()["checks"]), (503, &checks));
    drop(frozen);
    app.until_ready().await;
    database.stop().await;
}

/// Makes a role that may read the views. Returns its name.
async fn reader(database: &TestDatabase) -> String {
    let role = format!("few_{}", database.name());
    database
        .execute(&format!(
            "CREATE ROLE {role} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
        ))
        .await;
    role
}

/// A service whose requests wait so long for a connection, and for a statement as long as it takes.
async fn serve_at(url: String, pool_timeout: Duration) -> App {
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(url),
            query_timeout: Duration::from_secs(300),
            pool_timeout,
            ..svc::DatabaseConfig::default()
        },
        request_timeout: Some(Duration::from_secs(600)),
        ..SvcConfig::default()
    };
    let options = AppOptions::new().config(config);
    App::serve(options.queries(queries![rows, sleep])).await
}

/// Lets a role open no connection beside the one that it has.
async fn exhaust(database: &TestDatabase, role: &str) {
    database
        .execute(&format!("ALTER ROLE {role} CONNECTION LIMIT 1"))
        .await;
}

const EXHAUSTED: &str = "the database has no connection left for the service";

/// A role can have fewer connections than the pool. Requests wait for these as for the pool.
#[tokio::test(flavor = "multi_thread")]
async fn an_exhausted_connection_limit_is_reported() {
    let database = TestDatabase::new(SQL).await;
    let role = reader(&database).await;
    let url = format!("{}&user={role}", database.url());
    let app = serve_at(url, Duration::from_secs(1)).await;
    app.until_data("{ rows { id name } }", &two_rows()).await;
    exhaust(&database, &role).await;
    let (slow, ()) = tokio::join!(app.query("{ sleep { id } }"), async {
        database.until_running("v_sleep", 1).await;
        // On a busy machine the first attempt to connect may take longer than a request waits.
        let refused = svc_tests::eventually(async || match app.query("{ rows { id } }").await {
            late if late.message() == "the database is not reachable" => Err(late.text),
            refused => Ok(refused),
        })
        .await;
        assert_eq!(
            (refused.code().as_str(), refused.message().as_str()),
            ("SERVICE_UNAVAILABLE", EXHAUSTED)
        );
        until_checks(&app, &format!("failed: {EXHAUSTED}")).await;
        // The statement holds the connection until both were refused, and not for a time of its
        // own.
        database.execute(END_SLEEP).await;
    });
    assert_eq!(slow.code(), "TIMEOUT");
    app.until_data("{ rows { id name } }", &two_rows()).await;
    app.until_ready().await;
}

/// A request that was refused a connection tries again until its time is over, and the last attempt
/// may have no answer by then. Its error has this message if it waits so long.
async fn unanswered_attempt(pool_timeout: Duration, expected: &str) {
    let (log, proxy) = (Log::start(), Proxy::new().await);
    let database = TestDatabase::new(SQL).await;
    let role = reader(&database).await;
    let url = proxy
        .url(&database)
        .replace("postgres@", &format!("{role}@"));
    let app = serve_at(url, pool_timeout).await;
    app.until_data("{ rows { id name } }", &two_rows()).await;
    exhaust(&database, &role).await;
    let (slow, ()) = tokio::join!(app.query("{ sleep { id } }"), async {
        database.until_running("v_sleep", 1).await;
        let (refused, ()) = tokio::join!(app.query("{ rows { id } }"), async {
            log.has("the database has no connections left").await;
            proxy.set(Flow::Stopped);
        });
        assert_eq!(
            (refused.code().as_str(), refused.message().as_str()),
            ("SERVICE_UNAVAILABLE", expected)
        );
        proxy.set(Flow::Free);
        database.execute(END_SLEEP).await;
    });
    assert_eq!(slow.code(), "TIMEOUT", "{}", slow.text);
    app.until_data("{ rows { id name } }", &two_rows()).await;
}

#[tokio::test]
async fn an_exhausted_connection_limit_is_reported_after_an_unanswered_attempt() {
    unanswered_attempt(Duration::from_secs(3), EXHAUSTED).await;
}

/// The database had no connection left at first, and has not answered for several seconds since.
#[tokio::test]
async fn an_exhausted_connection_limit_is_not_reported_long_after_the_refusal() {
    let busy = "all database connections are busy";
    unanswered_attempt(Duration::from_secs(10), busy).await;
}

/// Under load each connection is in use, and is still returned in time.
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_service_stays_ready() {
    let pool_timeout = Duration::from_secs(120);
    let (_database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            pool_timeout,
            ..svc::DatabaseConfig::default()
        },
        request_timeout: Some(Duration::from_secs(300)),
        ..SvcConfig::default()
    })
    .await;
    let is_over = AtomicBool::new(false);
    let work = async || {
        while !is_over.load(Ordering::Relaxed) {
            assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
        }
    };
    let watch = async {
        let mut failed = Vec::new();
        for _ in 0..50 {
            let ready = app.get("/ready").await;
            failed.extend((ready.status != 200).then_some(ready.text));
        }
        is_over.store(true, Ordering::Relaxed);
        // Where the machine stands still for a second a probe may fail.
        assert!(failed.len() <= 20, "{} of 50: {failed:#?}", failed.len());
    };
    tokio::join!(work(), work(), work(), work(), watch);
}

/// No clock reaches that far.
#[tokio::test(flavor = "multi_thread")]
async fn the_pool_timeout_can_be_the_longest_duration() {
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            pool_timeout: std::time::Duration::MAX,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let (_database, app) = serve(config).await;
    let (one, other) = tokio::join!(
        app.query("{ rows { id name } }"),
        app.query("{ rows { id name } }")
    );
    assert_eq!((one.data(), other.data()), (two_rows(), two_rows()));
}
