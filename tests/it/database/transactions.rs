//! Transactions of resolvers: what is kept, what is undone, and what the client is told.

use serde_json::json;
use svc::db::AssertSqlSafe;
use svc::prelude::*;
use svc::serde_json::json as value;
use svc::{DatabaseConfig, OnFailure, sqlx};
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_note")]
#[derive(Debug)]
struct Note {
    id: i32,
    body: String,
}

const SQL: &str = "
CREATE TABLE tb_note (id int PRIMARY KEY, body text NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED);
CREATE VIEW v_note AS SELECT id, body FROM tb_note ORDER BY id;
CREATE SCHEMA app;
CREATE TYPE app.mutation_response AS (status text, message text, entity jsonb);
CREATE FUNCTION app.add(id int, body text) RETURNS int LANGUAGE sql AS
    $$ INSERT INTO tb_note VALUES (id, body) RETURNING id $$;
CREATE FUNCTION app.refuse(id int) RETURNS app.mutation_response LANGUAGE sql AS
    $$ INSERT INTO tb_note VALUES (id, 'refused'); SELECT 'failed:validation', 'not this one', NULL::jsonb $$;";

const INSERT: &str = "INSERT INTO tb_note VALUES ($1, $2)";

#[svc::query]
async fn notes() -> Vec<Note>;

/// Writes, and reads what it has written before it is kept.
#[svc::mutation]
async fn write(ctx: &Context<'_>, keep: bool) -> Result<Vec<String>> {
    let mut tx = ctx.db().transaction().await?;
    assert_eq!(tx.execute(INSERT, [value!(1), value!("one")]).await?, 1);
    let two: i32 = tx.call("app.add", [value!(2), value!("two")]).await?;
    let note = tx
        .row(ctx.db().find_one::<Note>().filter(col("id").eq(two)))
        .await?;
    let seen = tx.rows(ctx.db().find::<Note>().order_by(asc("id"))).await?;
    let outside = ctx.db().find::<Note>().await?;
    if keep {
        tx.commit().await?;
    }
    Ok(seen
        .into_iter()
        .chain(note)
        .chain(outside)
        .map(|note| note.body)
        .collect())
}

/// Goes on after a statement that has failed, as a program may that looks at the error.
#[svc::mutation]
async fn stumble(ctx: &Context<'_>, on_sqlx: bool) -> Result<bool> {
    if on_sqlx {
        let mut tx = ctx.db().sqlx_transaction().await?;
        sqlx::query(INSERT)
            .bind(1)
            .bind("one")
            .execute(&mut *tx)
            .await?;
        assert!(sqlx::query("SELECT 1 / 0").execute(&mut *tx).await.is_err());
        tx.commit().await?;
    } else {
        let mut tx = ctx.db().transaction().await?;
        tx.execute(INSERT, [value!(1), value!("one")]).await?;
        assert!(tx.execute("SELECT 1 / 0", []).await.is_err());
        tx.commit().await?;
    }
    Ok(true)
}

/// A failing status fails the transaction, unless the program says that what it wrote is to be
/// kept.
#[svc::mutation]
async fn refuse(ctx: &Context<'_>, keep: bool) -> Result<bool> {
    let mut tx = ctx.db().transaction().await?;
    let on_failure = if keep {
        OnFailure::Commit
    } else {
        OnFailure::Rollback
    };
    let refused = tx
        .call_with::<Option<Note>>(on_failure, "app.refuse", [value!(3)])
        .await
        .unwrap_err();
    assert_eq!(refused.message(), "not this one");
    tx.commit().await?;
    Ok(true)
}

/// Builds SQL for a number of rows, whose values are parameters.
#[svc::mutation]
async fn write_rows(ctx: &Context<'_>, count: i32) -> Result<i32> {
    let mut tx = ctx.db().transaction().await?;
    let rows: Vec<_> = (1..=count).map(|n| format!("(${n}, 'row {n}')")).collect();
    let sql = format!("INSERT INTO tb_note VALUES {}", rows.join(", "));
    let written = tx
        .execute(AssertSqlSafe(sql), (1..=count).map(|id| value!(id)))
        .await?;
    tx.commit().await?;
    Ok(written.try_into()?)
}

/// The constraint is looked at when it commits.
#[svc::mutation]
async fn twice(ctx: &Context<'_>) -> Result<bool> {
    let mut tx = ctx.db().transaction().await?;
    for id in [1, 2] {
        tx.execute(INSERT, [value!(id), value!("same")]).await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// The connection ends in the middle.
#[svc::mutation]
async fn lose(ctx: &Context<'_>) -> Result<bool> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute(INSERT, [value!(1), value!("one")]).await?;
    let ended = tx
        .execute(
            "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)",
            [],
        )
        .await;
    assert_eq!(ended.unwrap_err().code(), "SERVICE_UNAVAILABLE");
    tx.commit().await?;
    Ok(true)
}

/// Attempts to end the transaction by SQL.
#[svc::mutation]
async fn end_by_sql(ctx: &Context<'_>, rolls_back: bool) -> Result<bool> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute(INSERT, [value!(1), value!("one")]).await?;
    let sql = if rolls_back {
        "/* all */ rollback"
    } else {
        "COMMIT"
    };
    tx.execute(sql, []).await?;
    tx.commit().await?;
    Ok(true)
}

async fn serve() -> (TestDatabase, App) {
    let database = TestDatabase::new(SQL).await;
    let database_config = DatabaseConfig {
        url: Some(database.url()),
        pool_size: 2,
        ..DatabaseConfig::default()
    };
    let config = SvcConfig {
        database: database_config,
        ..SvcConfig::default()
    };
    let options = AppOptions::new().config(config).queries(queries![notes]);
    let options = options.mutations(mutations![
        write, stumble, refuse, write_rows, twice, lose, end_by_sql
    ]);
    (database, App::serve(options).await)
}

async fn kept(app: &App) -> serde_json::Value {
    app.query("{ notes { id body } }").await.data()["notes"].clone()
}

#[tokio::test]
async fn committed_changes_are_kept_and_dropped_ones_are_rolled_back() {
    let (_database, app) = serve().await;
    let seen = json!({ "write": ["one", "two", "two"] });
    assert_eq!(
        app.query("mutation { write(keep: false) }").await.data(),
        seen
    );
    assert_eq!(kept(&app).await, json!([]));
    assert_eq!(
        app.query("mutation { write(keep: true) }").await.data(),
        seen
    );
    assert_eq!(
        kept(&app).await,
        json!([{ "id": 1, "body": "one" }, { "id": 2, "body": "two" }])
    );
}

#[tokio::test]
async fn sql_built_at_run_time_is_executed_with_its_values() {
    let (_database, app) = serve().await;
    assert_eq!(
        app.query("mutation { write_rows(count: 2) }").await.data(),
        json!({ "write_rows": 2 })
    );
    assert_eq!(
        kept(&app).await,
        json!([{ "id": 1, "body": "row 1" }, { "id": 2, "body": "row 2" }])
    );
}

/// More of them than connections: none is lost to the pool, and none keeps the writes of another.
#[tokio::test]
async fn dropped_transactions_return_their_connections() {
    let (database, app) = serve().await;
    for _ in 0..5 {
        app.query("mutation { write(keep: false) }").await.data();
    }
    let idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    let open: i64 = sqlx::query_scalar(idle)
        .fetch_one(&database.pool().await)
        .await
        .unwrap();
    assert_eq!((open, kept(&app).await), (0, json!([])));
}

/// PostgreSQL reports no error for the commit of a failed transaction.
#[tokio::test]
async fn the_commit_of_a_failed_transaction_is_an_error() {
    let (_database, app) = serve().await;
    for document in [
        "mutation { stumble(on_sqlx: false) }",
        "mutation { stumble(on_sqlx: true) }",
    ] {
        let answer = app.query(document).await;
        assert_eq!(answer.code(), "INTERNAL_SERVER_ERROR", "{document}");
        assert_eq!(
            answer.json()["errors"][0]["extensions"]["mutation"],
            "NOT_DONE",
            "{document}"
        );
        assert_eq!(kept(&app).await, json!([]), "{document}");
    }
}

#[tokio::test]
async fn a_failing_status_rolls_back_unless_changes_are_kept() {
    let (_database, app) = serve().await;
    assert_eq!(
        app.query("mutation { refuse(keep: false) }").await.code(),
        "INTERNAL_SERVER_ERROR"
    );
    assert_eq!(kept(&app).await, json!([]));
    assert_eq!(
        app.query("mutation { refuse(keep: true) }").await.data(),
        json!({ "refuse": true })
    );
    assert_eq!(kept(&app).await, json!([{ "id": 3, "body": "refused" }]));
}

#[tokio::test]
async fn a_constraint_violated_at_commit_rolls_back() {
    let (_database, app) = serve().await;
    let answer = app.query("mutation { twice }").await;
    assert_eq!(
        answer.json()["errors"][0]["extensions"]["mutation"],
        "NOT_DONE",
        "{}",
        answer.json()
    );
    assert_eq!(kept(&app).await, json!([]));
}

#[tokio::test]
async fn a_lost_connection_rolls_back_the_transaction() {
    let (_database, app) = serve().await;
    let answer = app.query("mutation { lose }").await;
    assert_eq!(answer.code(), "SERVICE_UNAVAILABLE", "{}", answer.json());
    assert_eq!(
        answer.json()["errors"][0]["extensions"]["mutation"],
        "NOT_DONE",
        "{}",
        answer.json()
    );
    assert_eq!(kept(&app).await, json!([]));
}

#[tokio::test]
async fn sql_cannot_end_a_transaction() {
    let (_database, app) = serve().await;
    for rolls_back in [false, true] {
        let document = format!("mutation {{ end_by_sql(rolls_back: {rolls_back}) }}");
        let answer = app.query(&document).await;
        assert_eq!(answer.code(), "INTERNAL_SERVER_ERROR", "{document}");
        assert_eq!(
            answer.json()["errors"][0]["extensions"]["mutation"],
            "NOT_DONE",
            "{document}"
        );
        assert_eq!(kept(&app).await, json!([]), "{document}");
    }
}
