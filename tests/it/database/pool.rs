//! The connections of planned reads: what happens when they die, when statements take too long, and
//! when views change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc::prelude::*;
use svc::sqlx;
use svc_embedded::{Database, Options};
use svc_tests::{App, Frozen, TestDatabase};
use tokio::io::AsyncWriteExt as _;

#[svc_type(sql_source = "v_driven")]
struct Row {
    id: i32,
    name: Option<String>,
}

#[svc_type(sql_source = "v_sleep")]
struct Sleep {
    id: i32,
}

/// The statements that are prepared on the connection which reads them.
#[svc_type(sql_source = "v_prepared")]
struct Prepared {
    number: i32,
    bytes: i32,
}

#[svc::query]
async fn rows() -> Vec<Row>;
#[svc::query]
async fn sleep() -> Option<Sleep>;
#[svc::query]
async fn own_sql(ctx: &Context<'_>) -> Result<Vec<i32>> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    Ok(sqlx::query_scalar("SELECT id FROM v_driven")
        .fetch_all(&mut *tx)
        .await?)
}
#[svc::query]
async fn prepared() -> Prepared;
/// Rows that fulfil a condition; each bit of the number makes another statement.
fn pick(ctx: &Context<'_>, shape: i32) -> Find<Row> {
    let condition = |bit: i32| {
        if shape & (1 << bit) == 0 {
            col("id").is_null()
        } else {
            col("name").is_null()
        }
    };
    ctx.db()
        .find::<Row>()
        .filter((1..11).fold(condition(0), |filter, bit| filter.or(condition(bit))))
}

#[svc::query]
async fn picked(ctx: &Context<'_>, shape: i32) -> Result<Find<Row>> {
    Ok(pick(ctx, shape))
}
/// Picks with sqlx; the number of statements that are then prepared on its connection.
#[svc::query]
async fn picked_by_sqlx(ctx: &Context<'_>, shape: i32) -> Result<i32> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    tx.rows(pick(ctx, shape)).await?;
    let count = "SELECT count(*)::int FROM pg_prepared_statements";
    let count = sqlx::query_scalar(count).fetch_one(&mut *tx).await?;
    tx.commit().await?;
    Ok(count)
}

const SQL: &str = "
CREATE VIEW v_driven AS SELECT i AS id, 'row ' || i AS name FROM generate_series(1, 2) AS i;
CREATE VIEW v_sleep AS SELECT 1 AS id FROM pg_sleep(300);
CREATE VIEW v_prepared AS SELECT count(*)::int AS number, coalesce(sum(octet_length(statement)), 0)::int AS bytes FROM pg_prepared_statements;";

async fn serve(config: SvcConfig) -> (TestDatabase, App) {
    let database = TestDatabase::new(SQL).await;
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            ..config.database
        },
        ..config
    };
    (database, App::serve(options(config)).await)
}

fn options(config: SvcConfig) -> AppOptions {
    AppOptions::new().config(config).queries(queries![
        rows,
        sleep,
        own_sql,
        prepared,
        picked,
        picked_by_sqlx
    ])
}

/// So many connections, whose statements do not end by themselves while a test waits for their end.
fn patient(pool_size: u32) -> SvcConfig {
    let (query_timeout, pool_timeout) = (Duration::from_secs(300), Duration::from_secs(50));
    SvcConfig {
        database: svc::DatabaseConfig {
            pool_size,
            query_timeout,
            pool_timeout,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    }
}

fn two_rows() -> Value {
    json!({ "rows": [{ "id": 1, "name": "row 1" }, { "id": 2, "name": "row 2" }] })
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_died_are_replaced() {
    let (database, app) = serve(SvcConfig::default()).await;
    let all = "{ a: rows { id } b: rows { id } c: own_sql own_sql rows { id name } }";
    app.query(all).await.data();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    database.execute(end).await;
    assert_eq!(app.query(all).await.data()["rows"], two_rows()["rows"]);
    app.until_ready().await;
    database.execute(end).await;
    app.until_ready().await;
}

/// Once anything of a read was answered it is not sent again, as it may be what has ended the
/// connection.
#[tokio::test]
async fn a_connection_that_dies_among_the_rows_is_an_error() {
    let (database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    database
        .execute(
            "CREATE SEQUENCE attempts;
             CREATE OR REPLACE VIEW v_driven AS
             SELECT i AS id, CASE WHEN i = 350 AND nextval('attempts') = 1
                 THEN pg_terminate_backend(pg_backend_pid())::text ELSE repeat('x', 2000) END AS name
             FROM generate_series(1, 400) AS i ORDER BY i",
        )
        .await;
    let all = "{ rows(limit: 400, order_by: [{id: ASC}]) { id name } }";
    let lost = app.query(all).await;
    let expected = (
        "SERVICE_UNAVAILABLE",
        "the connection to the database was lost",
    );
    assert_eq!((lost.code().as_str(), lost.message().as_str()), expected);
    let attempts: i64 = sqlx::query_scalar("SELECT last_value FROM attempts")
        .fetch_one(&database.pool().await)
        .await
        .unwrap();
    assert_eq!(attempts, 1);
    assert_eq!(
        app.query(all).await.data()["rows"].as_array().map(Vec::len),
        Some(400)
    );
}

#[tokio::test]
async fn a_view_that_has_changed_is_read_anew() {
    let (database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
    // Another type of a column makes the statement stale.
    database
        .execute(
            "DROP VIEW v_driven;
             CREATE VIEW v_driven AS SELECT i AS id, ('new ' || i)::varchar AS name FROM generate_series(1, 1) AS i",
        )
        .await;
    assert_eq!(
        app.query("{ rows { id name } }").await.data(),
        json!({ "rows": [{ "id": 1, "name": "new 1" }] })
    );
    database
        .execute("CREATE OR REPLACE VIEW v_driven AS SELECT i AS id, 'more'::varchar AS name FROM generate_series(5, 5) AS i")
        .await;
    assert_eq!(
        app.query("{ rows { id name } }").await.data(),
        json!({ "rows": [{ "id": 5, "name": "more" }] })
    );
    assert_eq!(
        database
            .statements("SELECT * FROM (SELECT t.\"id\", t.\"name\" FROM \"v_driven\"")
            .await,
        3
    );
}

/// Columns that have got other types, and views that are new, are noticed without a restart.
#[tokio::test]
async fn the_catalogue_follows_the_views() {
    let (database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
    database
        .execute(
            "DROP VIEW v_driven;
             CREATE VIEW v_driven AS SELECT i::bigint AS id, 'row ' || i AS name FROM generate_series(1, 2) AS i",
        )
        .await;
    app.until_data("{ rows { id name } }", &two_rows()).await;
    database
        .execute("ALTER VIEW v_sleep RENAME TO v_none")
        .await;
    svc_tests::eventually(async || {
        let ready = app.get("/ready").await;
        if ready.text.contains("missing in the database: v_sleep") {
            return Ok(());
        }
        assert_eq!(
            app.query("{ sleep { id } }").await.code(),
            "SERVICE_UNAVAILABLE"
        );
        Err(ready.text)
    })
    .await;
    database
        .execute("CREATE VIEW v_sleep AS SELECT 7 AS id")
        .await;
    app.until_data("{ sleep { id } }", &json!({ "sleep": { "id": 7 } }))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_ends_its_statement() {
    let (database, app) = serve(patient(1)).await;
    for _ in 0..2 {
        let body = r#"{"query":"{ sleep { id } }"}"#;
        let mut stream = tokio::net::TcpStream::connect(app.address()).await.unwrap();
        let head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
        stream
            .write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
            .await
            .unwrap();
        database.until_running("v_sleep", 1).await;
        drop(stream);
        database.until_running("v_sleep", 0).await;
        // The only connection serves again.
        assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
    }
}

/// The cancellation of one request's statement leaves the statements of others alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_hits_nobody_else() {
    let (database, app) = serve(patient(2)).await;
    for _ in 0..5 {
        let gone = tokio::time::timeout(Duration::from_millis(80), app.query("{ sleep { id } }"));
        let (gone, ()) = tokio::join!(gone, async {
            for _ in 0..20 {
                assert_eq!(
                    app.query("{ a: rows { id } rows { id name } }")
                        .await
                        .data()["rows"],
                    two_rows()["rows"]
                );
            }
        });
        assert!(gone.is_err());
    }
    database.until_running("v_sleep", 0).await;
}

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
async fn slow_statements_have_a_code() {
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
async fn busy_pools_have_a_code() {
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

/// A connection is there, and nothing comes back on it.
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

/// A role may have fewer connections than the pool. Requests wait for those that there are, as for
/// the pool.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_a_connection_left_says_so() {
    let database = TestDatabase::new(SQL).await;
    let pool = database.pool().await;
    let role: String = sqlx::query_scalar("SELECT 'few_' || current_database()")
        .fetch_one(&pool)
        .await
        .unwrap();
    database
        .execute(&format!(
            "CREATE ROLE {role} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
        ))
        .await;
    let url = format!("{}&user={role}", database.url());
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(url),
            query_timeout: Duration::from_secs(300),
            pool_timeout: Duration::from_secs(1),
            ..svc::DatabaseConfig::default()
        },
        request_timeout: Some(Duration::from_secs(600)),
        ..SvcConfig::default()
    };
    let app = App::serve(
        AppOptions::new()
            .config(config)
            .queries(queries![rows, sleep]),
    )
    .await;
    app.until_data("{ rows { id name } }", &two_rows()).await;
    database
        .execute(&format!("ALTER ROLE {role} CONNECTION LIMIT 1"))
        .await;
    let (slow, ()) = tokio::join!(app.query("{ sleep { id } }"), async {
        database.until_running("v_sleep", 1).await;
        let refused = app.query("{ rows { id } }").await;
        let why = "the database has no connection left for the service";
        assert_eq!(
            (refused.code().as_str(), refused.message().as_str()),
            ("SERVICE_UNAVAILABLE", why)
        );
        until_checks(&app, &format!("failed: {why}")).await;
        // The statement holds the connection until both were refused, and not for a time of its
        // own.
        database.execute(END_SLEEP).await;
    });
    assert_eq!(slow.code(), "TIMEOUT");
    app.until_data("{ rows { id name } }", &two_rows()).await;
    app.until_ready().await;
}

/// Under load each connection is in use, and still comes back in time.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_with_much_to_do_is_ready() {
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

/// No clock counts that far.
#[tokio::test(flavor = "multi_thread")]
async fn a_time_out_may_be_as_long_as_a_number() {
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

#[tokio::test]
async fn prepared_statements_are_bounded() {
    let (_database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    let prepared = async || {
        let prepared = app.query("{ prepared { number bytes } }").await.data()["prepared"].clone();
        (
            prepared["number"].as_i64().unwrap(),
            prepared["bytes"].as_i64().unwrap(),
        )
    };
    let ask = async |times: usize| {
        for from in (0..1_050).step_by(10) {
            let fields: Vec<String> = (from..from + 10)
                .map(|at| format!("a{at}: picked(shape: {at}) {{ id }}"))
                .collect();
            for _ in 0..times {
                app.query(&format!("{{ {} }}", fields.join(" ")))
                    .await
                    .data();
            }
        }
    };
    // What is asked for once is not kept.
    ask(1).await;
    let (few, _) = prepared().await;
    assert!(few < 10, "{few}");
    ask(2).await;
    let (most, bytes) = prepared().await;
    assert!(
        (100..=1_005).contains(&most),
        "{most} statements are prepared"
    );
    assert!(
        (200_000..=264_000).contains(&bytes),
        "{bytes} bytes are prepared"
    );
    assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
}

/// sqlx bounds them by number, and one with many conditions takes PostgreSQL megabytes.
#[tokio::test]
async fn statements_that_clients_shape_are_not_kept_by_sqlx() {
    let (_database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    for shape in 0..20 {
        let reply = app
            .query(&format!("{{ picked_by_sqlx(shape: {shape}) }}"))
            .await;
        let own = json!({ "picked_by_sqlx": 1 });
        assert_eq!(
            reply.data(),
            own,
            "the program's own statement is kept, and no other: {}",
            reply.text
        );
    }
}
