//! The deadline of a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use svc::prelude::*;
use svc::sqlx;
use svc_tests::{App, TestDatabase, eventually, within};

use super::{SQL, options, until_answered};

/// Longer than a request takes to be ended, and shorter than its statements.
const ENDED: Duration = Duration::from_secs(100);

/// The number of resolvers that wait.
#[derive(Clone, Default)]
struct Waiting(Arc<AtomicUsize>);

struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn forever(ctx: &Context<'_>) -> Result<bool> {
    let waiting = ctx.data::<Waiting>()?.0.clone();
    waiting.fetch_add(1, Ordering::SeqCst);
    let _guard = Guard(waiting);
    std::future::pending().await
}

#[svc::query]
async fn stuck(ctx: &Context<'_>) -> Result<bool> {
    forever(ctx).await
}
#[svc::query]
async fn stuck_sql(ctx: &Context<'_>) -> Result<bool> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    sqlx::query("SELECT pg_sleep(300)")
        .execute(&mut *tx)
        .await?;
    Ok(true)
}
#[svc::mutation]
async fn change(ctx: &Context<'_>) -> Result<bool> {
    forever(ctx).await
}

#[svc::mutation]
async fn saved(ctx: &Context<'_>, name: String) -> Result<bool> {
    ctx.db().call::<i32>("add_row", vec![name.into()]).await?;
    forever(ctx).await
}

/// So many seconds for a request; statements have longer.
async fn serve(seconds: u64) -> (TestDatabase, Waiting, App) {
    let (database, waiting) = (TestDatabase::new(SQL).await, Waiting::default());
    let config = SvcConfig {
        request_timeout: Some(Duration::from_secs(seconds)),
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            query_timeout: std::time::Duration::from_secs(200),
            ..svc::DatabaseConfig::default()
        },
        operations: svc::OperationsConfig {
            rust_endpoint: true,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = options("")
        .queries(queries![stuck, stuck_sql])
        .mutations(mutations![change, saved]);
    let app = App::serve(options.config(config).data(waiting.clone())).await;
    (database, waiting, app)
}

fn late(seconds: u64) -> String {
    format!("the request took longer than {seconds} seconds")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_path_ends_a_request_at_its_deadline() {
    let (database, waiting, app) = serve(1).await;
    let start = Instant::now();
    let body = r#"{"query":"{ sleep { id } }"}"#;
    let rust = app
        .request("POST", "/graphql/rust")
        .header("content-type", "application/json")
        .body(body);
    let strict = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let strict = strict
        .header("accept", "application/graphql-response+json")
        .body(body);
    let (resolver, get, planned, strict, rust, sql) = tokio::join!(
        app.query("{ stuck }"),
        app.get("/graphql?query=%7Bstuck%7D"),
        app.query("{ sleep { id } }"),
        app.send(strict),
        app.send(rust),
        app.query("{ stuck_sql }"),
    );
    // Statements have minutes, and a busy machine adds less.
    assert!(start.elapsed() < ENDED, "{:?}", start.elapsed());
    let late = late(1);
    for reply in [resolver, get, planned, strict, rust, sql] {
        assert_eq!(
            (reply.status, reply.code().as_str(), reply.message()),
            (504, "TIMEOUT", late.clone())
        );
        assert!(reply.json().get("data").is_none());
    }
    eventually(async || match waiting.0.load(Ordering::SeqCst) {
        0 => Ok(()),
        number => Err(format!("{number} resolvers go on")),
    })
    .await;
    // Planned statements are cancelled in PostgreSQL.
    let running = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' \
                   AND query LIKE '%v_sleep%' AND pid <> pg_backend_pid()";
    let pool = database.pool().await;
    within(
        ENDED.saturating_sub(start.elapsed()),
        async || match sqlx::query_scalar::<_, i64>(running)
            .fetch_one(&pool)
            .await
            .unwrap()
        {
            0 => Ok(()),
            number => Err(format!("{number} statements")),
        },
    )
    .await;
}

async fn a_mutation_ended_at_its_deadline_has_an_unknown_outcome() {
    let (_database, _, app) = serve(15).await;
    // Its time begins when the database is known, and the mutation has to begin before it ends.
    until_answered(&app, "{ rows { id } }").await;
    let reply = app.query("mutation { change }").await;
    let message = format!("{}; the mutation may have been done, or not", late(15));
    assert_eq!(
        (reply.status, reply.code(), reply.message()),
        (504, "OUTCOME_UNKNOWN".to_owned(), message)
    );
}

/// A client that knows of a commit does not send the mutation again.
async fn a_mutation_ended_at_its_deadline_reports_its_commits() {
    let (_database, _, app) = serve(15).await;
    // What is done has to be so before the request ends.
    until_answered(&app, "{ rows { id } }").await;
    let (one, several, both) = tokio::join!(
        app.query(r#"mutation { saved(name: "s") }"#),
        app.query(r#"mutation { a: add(name: "a") __typename b: change c: add(name: "c") }"#),
        app.query(r#"mutation { b: add(name: "b") saved(name: "t") d: add(name: "d") }"#),
    );
    let late = late(15);
    let message = format!("the mutation is done, but its answer could not be read: {late}");
    assert_eq!(
        (one.status, one.code(), one.message()),
        (504, "NOT_READ".to_owned(), message)
    );
    assert_eq!(one.json()["errors"][0]["extensions"]["mutation"], "DONE");
    assert_eq!(one.json().get("extensions"), None);

    assert_eq!(
        (several.status, several.code()),
        (504, "OUTCOME_UNKNOWN".to_owned())
    );
    assert_eq!(
        several.json()["errors"][0]["extensions"]["mutation"],
        "UNKNOWN"
    );
    let effects = json!({ "mutations": { "a": "DONE", "b": "UNKNOWN", "c": "NOT_DONE" } });
    assert_eq!(several.json()["extensions"], effects, "{}", several.text);

    let message = format!("{late}; some of its mutations are done, and others are not");
    assert_eq!(
        (both.status, both.code(), both.message()),
        (504, "NOT_READ".to_owned(), message)
    );
    assert_eq!(both.json()["errors"][0]["extensions"].get("mutation"), None);
    let effects = json!({ "mutations": { "b": "DONE", "saved": "DONE", "d": "NOT_DONE" } });
    assert_eq!(both.json()["extensions"], effects, "{}", both.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_request_timeout_can_be_switched_off() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(options(&database.url()).request_timeout(None)).await;
    app.query("{ rows { id } }").await.data();
}

/// Each of these waits for a time to pass, so they wait together.
#[tokio::test(flavor = "multi_thread")]
async fn a_mutation_ended_at_its_deadline_reports_what_is_known() {
    tokio::join!(
        a_mutation_ended_at_its_deadline_has_an_unknown_outcome(),
        a_mutation_ended_at_its_deadline_reports_its_commits(),
    );
}
