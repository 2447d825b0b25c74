//! Whatever the database does not answer, the client gets its answer, and the place comes back.

mod request;
mod stopped;
mod unforwarded;

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use svc::prelude::*;
use svc::sqlx;
use svc_tests::{App, Reply};

#[svc_type(sql_source = "v_row")]
struct Row {
    id: i32,
    name: String,
}

/// A row that takes as long as the test wants.
#[svc_type(sql_source = "v_sleep")]
struct Sleep {
    id: i32,
}

#[svc::query]
async fn rows() -> Vec<Row>;
#[svc::query]
async fn row(id: i32) -> Option<Row>;
#[svc::query]
async fn sleep() -> Option<Sleep>;
#[svc::query]
async fn paged() -> Connection<Row>;
#[svc::query]
async fn awaited(ctx: &Context<'_>) -> Result<i64> {
    ctx.db().find::<Row>().count().await
}
#[svc::query]
async fn in_transaction(ctx: &Context<'_>) -> Result<i32> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    let one = sqlx::query_scalar("SELECT 1").fetch_one(&mut *tx).await?;
    tx.commit().await?;
    Ok(one)
}
#[svc::query]
async fn in_pool(ctx: &Context<'_>) -> Result<i32> {
    Ok(sqlx::query_scalar("SELECT 1")
        .fetch_one(ctx.db().pool())
        .await?)
}
#[svc::mutation(function = "add_row")]
async fn add(name: String) -> i32;

const SQL: &str = "
CREATE TABLE tb_row (id serial, name text UNIQUE);
INSERT INTO tb_row (name) VALUES ('first');
CREATE VIEW v_row AS SELECT id, name FROM tb_row;
CREATE VIEW v_sleep AS SELECT 1 AS id FROM pg_sleep(300);
CREATE FUNCTION add_row(name text) RETURNS int LANGUAGE sql AS 'INSERT INTO tb_row (name) VALUES ($1) RETURNING id';";

/// Every way to the database, and a mutation.
const KINDS: [&str; 6] = [
    "{ rows { id name } }",
    "{ row(id: 1) { name } }",
    "{ paged(first: 1) { edges { node { id } } } }",
    "{ awaited }",
    "{ in_transaction }",
    "{ in_pool }",
];

/// A request that waits for the database without end is ended after five minutes; a machine that is
/// busy adds less.
const IN_TIME: Duration = Duration::from_secs(100);

/// The statement time-out is a second, so its deadline a second and a half.
fn options(url: &str) -> AppOptions {
    let config = SvcConfig {
        environment: svc::Environment::Production,
        request_timeout: Some(Duration::from_secs(300)),
        database: svc::DatabaseConfig {
            url: Some(url.to_owned()),
            pool_timeout: std::time::Duration::from_secs(1),
            pool_size: 3,
            query_timeout: std::time::Duration::from_secs(1),
            ..svc::DatabaseConfig::default()
        },
        operations: svc::OperationsConfig {
            rust_endpoint: true,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let queries = queries![rows, row, sleep, paged, awaited, in_transaction, in_pool];
    AppOptions::new()
        .config(config)
        .queries(queries)
        .mutations(mutations![add])
}

/// An answer, and how long it took.
async fn timed(app: &App, query: &str) -> (Reply, Duration) {
    let start = Instant::now();
    let reply = app.query(query).await;
    (reply, start.elapsed())
}

/// Opens connections of both pools. On a busy machine those of the first try may come too late.
async fn warm(app: &App) {
    svc_tests::eventually(async || {
        let replies = join_all(KINDS.iter().map(|query| app.query(query))).await;
        let failed = replies
            .iter()
            .find(|reply| reply.json().get("errors").is_some());
        failed.map_or(Ok(()), |reply| Err(reply.text.clone()))
    })
    .await;
}

/// Asks until the answer has no errors.
async fn until_answered(app: &App, query: &str) {
    svc_tests::eventually(async || {
        let reply = app.query(query).await;
        if reply.json().get("errors").is_none() {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
}

/// Waits until every way to the database answers again. A look at the database that began while it
/// was broken may end later.
async fn until_well(app: &App) {
    for query in KINDS {
        until_answered(app, query).await;
    }
}

/// Fails unless each answer came in time, as data or as an error that says that the database is the
/// reason.
fn all_in_time(answers: &[(Reply, Duration)]) {
    for (reply, time) in answers {
        assert!(*time < IN_TIME, "{time:?} for {}", reply.text);
        if reply.json().get("errors").is_some() {
            let code = reply.code();
            // PostgreSQL itself may be the one that is late.
            let is_told =
                ["SERVICE_UNAVAILABLE", "OUTCOME_UNKNOWN", "TIMEOUT"].contains(&code.as_str());
            assert!(is_told, "{}", reply.text);
        }
    }
}
