//! A connection that was closed while nobody used it reaches no request, of neither pool.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use svc::db::AssertSqlSafe;
use svc::prelude::*;
use svc::sqlx;
use svc_embedded::{Database, Options};
use svc_tests::{App, Flow, Proxy, TestDatabase};

#[svc_type(sql_source = "v_row")]
struct Row {
    id: i32,
}

#[svc::query]
async fn rows() -> Vec<Row>;
#[svc::query]
async fn begun(ctx: &Context<'_>) -> Result<i32> {
    let mut tx = ctx.db().pool().begin().await?;
    Ok(sqlx::query_scalar("SELECT 1 FROM pg_sleep(0.05)")
        .fetch_one(&mut *tx)
        .await?)
}
#[svc::query]
async fn direct(ctx: &Context<'_>) -> Result<i32> {
    Ok(sqlx::query_scalar("SELECT 1 FROM pg_sleep(0.05)")
        .fetch_one(ctx.db().pool())
        .await?)
}
#[svc::query]
async fn ours(ctx: &Context<'_>) -> Result<i32> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    Ok(sqlx::query_scalar("SELECT 1 FROM pg_sleep(0.05)")
        .fetch_one(&mut *tx)
        .await?)
}
#[svc::query]
async fn written(ctx: &Context<'_>) -> Result<i32> {
    Ok(
        sqlx::query_scalar("INSERT INTO tb_written VALUES (1) RETURNING id")
            .fetch_one(ctx.db().pool())
            .await?,
    )
}
#[svc::mutation(function = "one")]
async fn called() -> i32;

/// An error of the program's own around that of sqlx.
#[derive(Debug)]
struct Wrapped(sqlx::Error);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the report cannot be made")
    }
}

impl std::error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[svc::query]
async fn killed(ctx: &Context<'_>, wrapped: bool) -> Result<bool> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    let kill = sqlx::query("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)")
        .execute(&mut *tx)
        .await;
    if wrapped {
        kill.map_err(Wrapped)?;
    } else {
        kill?;
    }
    Ok(true)
}

const SQL: &str = "
CREATE TABLE IF NOT EXISTS tb_written (id int);
CREATE VIEW v_row AS SELECT 1 AS id FROM pg_sleep(0.05);
CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1 FROM pg_sleep(0.05)';";

/// Returns when they have ended.
const END: &str = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Every way to the database.
const KINDS: [&str; 5] = [
    "{ rows { id } }",
    "{ begun }",
    "{ direct }",
    "{ ours }",
    "mutation { called }",
];

fn options(url: &str) -> AppOptions {
    // A request that waits for a new connection does so for as long as a busy machine takes.
    let pool_timeout = Duration::from_secs(60);
    let url = Some(url.to_owned());
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url,
            pool_size: 3,
            pool_timeout,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let queries = queries![rows, begun, direct, ours, killed, written];
    AppOptions::new()
        .config(config)
        .queries(queries)
        .mutations(mutations![called])
}

/// Three of each at a time, so that every connection of both pools is used.
async fn all(app: &App) {
    for kind in KINDS {
        for reply in join_all([0; 3].map(|_| app.query(kind))).await {
            assert!(
                !reply.data().to_string().contains("[]"),
                "{kind}: {}",
                reply.text
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn terminated_connections_fail_no_request() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(options(&database.url())).await;
    all(&app).await;
    for kind in KINDS {
        all(&app).await;
        database.execute(END).await;
        for reply in join_all([0; 3].map(|_| app.query(kind))).await {
            assert!(
                !reply.data().to_string().contains("[]"),
                "{kind}: {}",
                reply.text
            );
        }
    }
    database.execute(END).await;
    app.until_ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_restart_fails_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::start(Options::new(folder.path())).await.unwrap();
    let setup = SQL
        .replace("CREATE VIEW", "CREATE OR REPLACE VIEW")
        .replace("CREATE F", "CREATE OR REPLACE F");
    let app = App::serve(options(&database.url()).setup_sql(AssertSqlSafe(setup))).await;
    all(&app).await;
    database.stop().await;
    let database = Database::start(Options::new(folder.path())).await.unwrap();
    app.until_ready().await;
    all(&app).await;
    app.stopped().await;
    database.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolver_whose_connection_dies_reports_a_lost_connection() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(options(&database.url())).await;
    for wrapped in [false, true] {
        let reply = app
            .query_with(
                "query ($w: Boolean!) { killed(wrapped: $w) }",
                json!({ "w": wrapped }),
            )
            .await;
        assert_eq!(reply.code(), "SERVICE_UNAVAILABLE", "{}", reply.text);
        assert!(
            reply
                .message()
                .starts_with("the connection to the database was lost"),
            "{}",
            reply.text
        );
    }
    all(&app).await;
}

/// In development an unavailable database gives empty lists, so a wrong verdict is a wrong answer.
#[tokio::test(flavor = "multi_thread")]
async fn killed_connections_do_not_mark_the_database_unavailable() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(options(&database.url())).await;
    all(&app).await;
    let pool = database.pool().await;
    let kills = async {
        for _ in 0..40 {
            sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
                "{END} ORDER BY random() LIMIT 1"
            )))
            .execute(&pool)
            .await
            .unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let asks = join_all([0; 4].map(|_| async {
        let (mut lost, start) = (0, Instant::now());
        while start.elapsed() < Duration::from_secs(2) {
            let reply = app.query("{ rows { id } }").await;
            if reply.json().get("errors").is_some() {
                // A statement that was running when its backend was ended.
                assert_eq!(reply.message(), "the connection to the database was lost");
                lost += 1;
            } else {
                assert_eq!(reply.data(), json!({ "rows": [{ "id": 1 }] }));
            }
        }
        lost
    }));
    let (lost, ()) = tokio::join!(asks, kills);
    assert!(
        lost.iter().sum::<i32>() <= 40,
        "{lost:?}: each kill may end one statement"
    );
    app.until_ready().await;
}

/// A transaction of an aborted request must not swallow the writes of the next one.
#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_request_leaves_no_open_transaction() {
    let (database, proxy) = (TestDatabase::new(SQL).await, Proxy::new().await);
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(proxy.url(&database)),
            pool_size: 1,
            pool_timeout: Duration::from_secs(60),
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .queries(queries![ours, begun, written]);
    let app = App::serve(options).await;
    for begin in ["{ ours }", "{ begun }"] {
        app.query("{ ours }").await.data();
        // A direct use has its answer to the ping, and then the network stops.
        proxy.set(Flow::Stopped);
        assert!(
            tokio::time::timeout(Duration::from_millis(200), app.query(begin))
                .await
                .is_err()
        );
        proxy.set(Flow::Free);
        app.query("{ written }").await.data();
    }
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM tb_written")
        .fetch_one(&database.pool().await)
        .await
        .unwrap();
    assert_eq!(count, 2);
}
