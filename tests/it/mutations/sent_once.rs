//! A statement that may have been done is not sent again.

use futures_util::future::join_all;
use serde_json::json;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

/// Reading a row ends the backend.
#[svc_type(sql_source = "v_deadly")]
struct Deadly {
    id: i32,
}

#[svc_type(sql_source = "v_row")]
struct Row {
    id: i32,
}

#[svc::query]
async fn deadlies() -> Vec<Deadly>;
#[svc::query]
async fn deadly(id: i32) -> Option<Deadly>;
#[svc::query]
async fn paged() -> Connection<Deadly>;
#[svc::query]
async fn awaited(ctx: &Context<'_>) -> Result<bool> {
    Ok(ctx.db().find::<Deadly>().await?.is_empty())
}
#[svc::query]
async fn rows() -> Vec<Row>;
#[svc::mutation(function = "deadly_call")]
async fn call() -> i32;
#[svc::mutation(function = "refused_call")]
async fn refused(code: String) -> i32;

const SQL: &str = "
CREATE SEQUENCE sent;
CREATE FUNCTION die() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    PERFORM nextval('sent'), pg_terminate_backend(pg_backend_pid()), pg_sleep(5);
    RETURN 1;
END $$;
CREATE VIEW v_deadly AS SELECT die() AS id;
CREATE VIEW v_row AS SELECT 1 AS id FROM pg_sleep(0.02);
CREATE FUNCTION deadly_call() RETURNS int LANGUAGE sql AS 'SELECT die()';
CREATE FUNCTION refused_call(code text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    PERFORM nextval('sent');
    RAISE EXCEPTION 'no' USING ERRCODE = code;
END $$;";

const READS: [&str; 4] = [
    "{ deadlies { id } }",
    "{ deadly(id: 1) { id } }",
    "{ paged(first: 1) { edges { node { id } } } }",
    "{ awaited }",
];

async fn serve(variables: SessionVariables) -> (TestDatabase, App) {
    let database = TestDatabase::new(SQL).await;
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            pool_size: 4,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .session_variables(variables);
    let options = options.queries(queries![deadlies, deadly, paged, awaited, rows]);
    (
        database,
        App::serve(options.mutations(mutations![call, refused])).await,
    )
}

/// The number of statements that were sent since this was last asked.
async fn sent(database: &TestDatabase) -> i64 {
    let count = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM sent";
    let sent = database.value(count).await;
    database.execute("ALTER SEQUENCE sent RESTART").await;
    sent
}

/// Opens all connections, so that they have been used.
async fn warm(app: &App) {
    for reply in join_all([0; 4].map(|_| app.query("{ rows { id } }"))).await {
        assert_eq!(reply.data(), json!({ "rows": [{ "id": 1 }] }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_ends_its_backend_is_sent_once() {
    for variables in [
        SessionVariables::new(),
        SessionVariables::new().header("app.tenant_id", "x-tenant"),
    ] {
        let (database, app) = serve(variables).await;
        for query in READS.iter().chain(&READS) {
            warm(&app).await;
            let reply = app.query(query).await;
            assert_eq!(
                reply.code(),
                "SERVICE_UNAVAILABLE",
                "{query}: {}",
                reply.text
            );
            assert_eq!(sent(&database).await, 1, "{query}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_sent_once_whatever_the_error() {
    let (database, app) = serve(SessionVariables::new()).await;
    for _ in 0..2 {
        warm(&app).await;
        let reply = app.query("mutation { call }").await;
        assert_eq!(reply.code(), "SERVICE_UNAVAILABLE", "{}", reply.text);
        assert!(
            reply.message().ends_with("; the mutation was not done"),
            "{}",
            reply.text
        );
        assert_eq!(sent(&database).await, 1);
    }
    // Of statements that are not known, of servers that stop, of conflicts, and of plans that have
    // changed.
    for code in [
        "26000", "57P01", "57P03", "40001", "40P01", "0A000", "08006", "53300",
    ] {
        let reply = app
            .query_with(
                "mutation ($c: String!) { refused(code: $c) }",
                json!({ "c": code }),
            )
            .await;
        assert!(
            reply.json().get("errors").is_some(),
            "{code}: {}",
            reply.text
        );
        assert_eq!(sent(&database).await, 1, "{code}");
    }
}

/// However many requests find their connections dead, the catalog is not read for each.
#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_is_not_read_again_for_each_connection_that_died() {
    let (database, app) = serve(SessionVariables::new()).await;
    warm(&app).await;
    // Of the catalog, and not of the looks at whether it has changed.
    let catalog = "NOT a.attisdropped";
    let before = database.statements(catalog).await;
    assert!(before > 0);
    for _ in 0..3 {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        database.execute(end).await;
        warm(&app).await;
        warm(&app).await;
    }
    assert_eq!(database.statements(catalog).await, before);
}
