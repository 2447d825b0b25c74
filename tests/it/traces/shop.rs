//! The service of these tests: things in a shop.

use svc::axum::http::HeaderMap;
use svc::futures_util::{Stream, stream};
use svc::prelude::*;
use svc::serde_json::json;
use svc::trace::{
    trace_cache_operation, trace_database_query, trace_graphql_operation, trace_graphql_query,
};
use svc::{ResponseCache, TracingConfig, create_svc_app, setup_tracing};
use svc_tests::{App, TestDatabase};

use super::receiver::Receiver;

const SQL: &str = "
    CREATE TABLE tb_thing (id integer PRIMARY KEY, name text NOT NULL);
    INSERT INTO tb_thing SELECT n, 'thing ' || n FROM generate_series(1, 20) AS n;
    CREATE VIEW v_thing AS SELECT id, name, '{}'::jsonb AS data FROM tb_thing;
    CREATE VIEW v_doomed AS SELECT 1 / (id - id) AS id FROM tb_thing;";

/// Has spans sent soon, where a test waits for them.
pub(super) const SOON: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "50");

/// A `traceparent` whose trace is sampled, but for its end.
pub(super) const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// A thing.
#[svc_type(sql_source = "v_thing")]
struct Thing {
    id: i32,
    name: String,
}

#[svc::query]
async fn things() -> Vec<Thing>;

#[svc_type(sql_source = "v_doomed")]
struct Doomed {
    id: i32,
}

/// PostgreSQL fails to read one.
#[svc::query]
async fn doomed() -> Option<Doomed>;

/// Kept for a minute.
#[svc::query(cache = 60)]
async fn kept() -> Vec<Thing>;

/// Work of the program's own.
#[svc::query]
async fn helped() -> Result<i32> {
    let variables = json!({ "token": "of secret kind" });
    let asked = trace_graphql_query("Price", "query Price { price }", &variables)
        .around(async { 1 })
        .await;
    let counted = trace_database_query("SELECT", "tb_order", Some("SELECT count(*) FROM tb_order"));
    let failed: Result<i32, &str> = counted.try_around(async { Err("of secret kind") }).await;
    assert!(failed.is_err());
    let nightly = trace_graphql_operation("query", "Nightly");
    let cached = nightly
        .around(async {
            trace_cache_operation("get", "prices")
                .around(async { 2 })
                .await
        })
        .await;
    Ok(asked + cached)
}

/// Calls functions with attributes.
#[svc::query]
async fn restocked() -> i32 {
    restock("upper").await
}

#[trace_graphql_operation("mutation", "Restock")]
async fn restock(shelf: &str) -> i32 {
    assert!(stock(shelf).await.is_err());
    1
}

#[trace_database_query("SELECT", "tb_shelf")]
async fn stock(shelf: &str) -> Result<i32, String> {
    let known: Option<i32> = trace_cache_operation("get", shelf)
        .around(async { None })
        .await;
    known.ok_or_else(|| "of secret kind".to_owned())
}

/// A statement of the program's own, through sqlx.
#[svc::query]
async fn counted(ctx: &Context<'_>) -> Result<i64> {
    if let Some(known) = trace_cache_operation("get", "counts")
        .around(async { None })
        .await
    {
        return Ok(known);
    }
    const COUNT: &str = "SELECT count(*) FROM v_thing";
    let counting = svc::sqlx::query_scalar(COUNT).fetch_one(ctx.db().pool());
    Ok(trace_database_query("SELECT", "v_thing", Some(COUNT))
        .try_around(counting)
        .await?)
}

/// One to a number.
#[svc::subscription]
fn ticks(count: i32) -> impl Stream<Item = i32> {
    stream::iter(1..=count)
}

/// One event, which fails.
#[svc::subscription]
fn breaking() -> impl Stream<Item = Result<i32>> {
    stream::iter([Err(Error::internal("the shop is on fire"))])
}

#[svc::query]
fn broken() -> Result<Option<i32>> {
    Err(Error::internal("the shop is on fire"))
}

/// The headers that a request to another service gets.
#[svc::query]
fn outgoing() -> Vec<String> {
    let mut headers = HeaderMap::new();
    svc::trace::inject_context(&mut headers);
    headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or_default()))
        .collect()
}

/// The service, which sends its spans so.
pub(super) async fn traced(database: &TestDatabase, config: TracingConfig) -> App {
    serve(options(database), config).await
}

pub(super) fn options(database: &TestDatabase) -> AppOptions {
    AppOptions::new()
        .database_url(database.url())
        .queries(queries![
            things, broken, outgoing, doomed, kept, helped, restocked, counted
        ])
        .subscriptions(subscriptions![ticks, breaking])
        .response_cache(ResponseCache::new())
}

pub(super) async fn serve(options: AppOptions, config: TracingConfig) -> App {
    let app = create_svc_app(options).await.unwrap();
    App::serve_router(setup_tracing(app, config).unwrap()).await
}

/// Settings for spans that go to a receiver.
pub(super) fn to(receiver: &Receiver) -> TracingConfig {
    TracingConfig {
        service_name: "shop".to_owned(),
        export_endpoint: Some(receiver.url.clone()),
        ..TracingConfig::default()
    }
}

/// A database with things.
pub(super) async fn things_database() -> TestDatabase {
    TestDatabase::new(SQL).await
}

/// A request with a document, variables and headers.
pub(super) async fn ask(
    app: &App,
    document: &str,
    variables: svc::serde_json::Value,
    headers: &[(&str, &str)],
) -> String {
    let body = svc::serde_json::json!({ "query": document, "variables": variables });
    let mut request = app.request("POST", "/graphql").json(&body);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let reply = app.send(request).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.text
}
