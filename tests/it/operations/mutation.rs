//! Mutations that SQL answers.

use serde_json::json;
use svc::db::AssertSqlSafe;
use svc::{Constraint, Operation, SvcConfig};

use super::schema::{store, store_with};

const ADD: &str = "mutation Add($name: String!) { add(name: $name) { id name } }";
const ADD_SQL: &str = "INSERT INTO tb_thing (name) VALUES ($1) RETURNING jsonb_build_object('id', id, 'name', name) AS add";

#[tokio::test]
async fn a_mutation_is_answered_by_its_sql() {
    let store = store([Operation::new(ADD).sql(ADD_SQL)]).await;
    for n in 6..8 {
        let added = store
            .by_id("Add", json!({ "name": format!("new {n}") }))
            .await
            .data();
        assert_eq!(
            added,
            json!({ "add": { "id": n, "name": format!("new {n}") } })
        );
    }
    let totals = store.app.query("{ totals { count } }").await.data();
    assert_eq!(
        (totals, store.runs.get()),
        (json!({ "totals": { "count": 7 } }), 0)
    );
}

/// A statement whose connection PostgreSQL ends is undone, and not sent again. A query is.
#[tokio::test]
async fn a_statement_is_sent_once() {
    let sql = |column: &str| {
        AssertSqlSafe(format!(
            "SELECT CASE WHEN nextval('runs') < 3 THEN to_jsonb(pg_terminate_backend(pg_backend_pid())) END AS {column}"
        ))
    };
    let store = store([
        Operation::new("mutation Touch { touch }").sql(sql("touch")),
        Operation::new("query Ask { optional }").sql(sql("optional")),
    ])
    .await;
    let reply = store.by_id("Touch", json!({})).await;
    assert_eq!(reply.code(), "SERVICE_UNAVAILABLE", "{}", reply.text);
    assert!(
        reply.message().ends_with("; the mutation was not done"),
        "{}",
        reply.text
    );
    // The sequence is at 1. The query meets 2, which ends its connection; a query is not sent again
    // either.
    let reply = store.by_id("Ask", json!({})).await;
    assert_eq!(reply.code(), "SERVICE_UNAVAILABLE", "{}", reply.text);
    assert_eq!(
        store.by_id("Ask", json!({})).await.data(),
        json!({ "optional": null })
    );
    let runs: i64 = svc::sqlx::query_scalar("SELECT last_value FROM runs")
        .fetch_one(&store.database.pool().await)
        .await
        .unwrap();
    assert_eq!(runs, 3);
}

/// As calls of functions: what an author declares is for clients, the rest is masked, and nothing
/// is left behind.
#[tokio::test]
async fn declared_errors_reach_clients_and_others_are_masked() {
    let constraint = Constraint::new("tb_thing_name_check", "not this name");
    let store = store_with(SvcConfig::default(), |options| {
        options.constraint(constraint).operations([
            Operation::new(ADD).sql(ADD_SQL),
            Operation::new("mutation Raise { touch }").sql("SELECT to_jsonb(raises()) AS touch"),
            Operation::new("mutation Divide { touch }")
                .sql("SELECT to_jsonb(1 / (nextval('runs') - 1) = 0) AS touch"),
        ])
    })
    .await;
    store
        .database
        .execute("CREATE FUNCTION raises() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO tb_thing (name) VALUES ('left'); RAISE EXCEPTION 'not today'; END $$")
        .await;
    let reply = store.by_id("Add", json!({ "name": "bad" })).await;
    assert_eq!(reply.message(), "not this name", "{}", reply.text);
    let reply = store.by_id("Raise", json!({})).await;
    assert_eq!(reply.message(), "not today", "{}", reply.text);
    let reply = store.by_id("Divide", json!({})).await;
    assert_eq!(
        (reply.message().as_str(), reply.code().as_str()),
        ("internal server error", "INTERNAL_SERVER_ERROR")
    );
    assert_eq!(
        store.app.query("{ totals { count } }").await.data(),
        json!({ "totals": { "count": 5 } })
    );
}
