//! Statements that are dropped, and tasks and transactions that outlive their field.

use std::sync::OnceLock;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;
use svc::DatabaseConfig;
use svc::db::Db;
use svc::prelude::*;
use svc_tests::{App, eventually};
use tokio::sync::Notify;

use super::{INSERT, database, error, errors, names, options, options_with, until_idle};

/// Drops a statement that runs, and may send another one.
#[svc::mutation(atomic)]
async fn give_up(ctx: &Context<'_>, continues: bool) -> Result<Option<bool>> {
    let slow = ctx.db().call::<i32>("add_and_doze", []);
    let dropped = tokio::time::timeout(Duration::from_millis(200), slow)
        .await
        .is_err();
    if continues {
        let next: Result<i32> = ctx.db().call("add_item", [json!(61), json!("next")]).await;
        return Ok(Some(next.is_ok()));
    }
    Ok(Some(dropped))
}

#[tokio::test]
async fn a_dropped_statement_undoes_the_operation() {
    let database = database().await;
    database
        .execute(
            "CREATE FUNCTION add_and_doze() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO tb_item VALUES (60, 'dropped');
                PERFORM pg_sleep(600);
                RETURN 60;
            END $$",
        )
        .await;
    let app = App::serve(options(&database).mutations(mutations![give_up])).await;
    for continues in [false, true] {
        let query =
            format!("mutation @atomic {{ a: plainly(id: 20) b: giveUp(continues: {continues}) }}");
        let reply = app.query(&query).await;
        let expected = [error("NOT_DONE", "a"), error("INTERNAL_SERVER_ERROR", "b")];
        assert_eq!(errors(&reply), expected, "{query} {}", reply.text);
        until_idle(&database).await;
        assert_eq!(names(&database).await, ["one", "two"], "{query}");
    }
}

/// Holds a statement that it does not poll, and sends another one.
#[svc::mutation(atomic)]
async fn hold(ctx: &Context<'_>) -> Result<Option<i32>> {
    let mut held = Box::pin(ctx.db().call::<i32>("doze", []));
    let ended = held.as_mut().now_or_never();
    let next: Result<i32> = ctx.db().call("add_item", [json!(65), json!("next")]).await;
    assert!(ended.is_none());
    drop(held);
    next.map(Some)
}

#[tokio::test]
async fn a_statement_does_not_wait_for_one_that_nothing_polls() {
    let database = database().await;
    let config = DatabaseConfig {
        url: Some(database.url()),
        pool_timeout: Duration::from_secs(3),
        ..DatabaseConfig::default()
    };
    let app = App::serve(options_with(config).mutations(mutations![hold])).await;
    let reply = app
        .query("mutation @atomic { a: plainly(id: 20) b: hold }")
        .await;
    let expected = [error("NOT_DONE", "a"), error("SERVICE_UNAVAILABLE", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    until_idle(&database).await;
    assert_eq!(names(&database).await, ["one", "two"]);
}

/// The database of a request, as its authorizer has kept it.
static KEPT: OnceLock<Db> = OnceLock::new();

async fn keep_database(request: AuthorizationRequest) -> bool {
    // The first field decides.
    let _ = KEPT.set(request.context().db().clone());
    true
}

#[svc::mutation(atomic)]
async fn write_apart() -> Result<Option<i32>> {
    let db = KEPT.get().ok_or_else(|| Error::internal("no database"))?;
    db.call("add_item", [json!(66), json!("apart")])
        .await
        .map(Some)
}

#[tokio::test]
async fn a_database_that_an_authorizer_keeps_is_outside_of_the_transaction() {
    let database = database().await;
    let options = options(&database)
        .mutations(mutations![write_apart])
        .authorizer(keep_database);
    let app = App::serve(options).await;
    let reply = app
        .query("mutation @atomic { a: plainly(id: 20) b: writeApart c: fail }")
        .await;
    let expected = [
        error("NOT_DONE", "a"),
        error("NOT_DONE", "b"),
        error("BAD_USER_INPUT", "c"),
    ];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two", "apart"]);
}

/// Lets the task of `write_later` go on.
static GO: Notify = Notify::const_new();
/// Whether its write was kept.
static WRITTEN: OnceLock<bool> = OnceLock::new();

#[svc::mutation(atomic)]
async fn write_later(ctx: &Context<'_>) -> Result<Option<bool>> {
    let db = ctx.db().clone();
    tokio::spawn(async move {
        GO.notified().await;
        let written: Result<i32> = db.call("add_item", [json!(62), json!("later")]).await;
        // It runs once.
        let _ = WRITTEN.set(written.is_ok());
    });
    Err(Error::new(ErrorCode::BadUserInput, "it failed"))
}

#[tokio::test]
async fn a_task_cannot_write_after_the_rollback() {
    let database = database().await;
    let app = App::serve(options(&database).mutations(mutations![write_later])).await;
    let reply = app
        .query("mutation @atomic { a: plainly(id: 20) b: writeLater }")
        .await;
    let expected = [error("NOT_DONE", "a"), error("BAD_USER_INPUT", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    GO.notify_one();
    let written = eventually(async || {
        let written = WRITTEN.get().copied();
        written.ok_or_else(|| "the task has not ended".to_owned())
    })
    .await;
    assert!(!written);
    assert_eq!(names(&database).await, ["one", "two"]);
}

/// Returns while a task has its transaction.
#[svc::mutation(atomic)]
async fn leave_open(ctx: &Context<'_>) -> Result<Option<bool>> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute(INSERT, [json!(63), json!("open")]).await?;
    tokio::spawn(async move {
        std::future::pending::<()>().await;
        drop(tx);
    });
    Ok(Some(true))
}

#[tokio::test]
async fn an_open_transaction_undoes_the_operation() {
    let database = database().await;
    let app = App::serve(options(&database).mutations(mutations![leave_open])).await;
    let reply = app
        .query("mutation @atomic { a: plainly(id: 20) b: leaveOpen }")
        .await;
    let expected = [error("NOT_DONE", "a"), error("INTERNAL_SERVER_ERROR", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    until_idle(&database).await;
    assert_eq!(names(&database).await, ["one", "two"]);
}

#[svc::mutation(atomic)]
async fn commit_by_sql(ctx: &Context<'_>) -> Result<Option<bool>> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute(INSERT, [json!(64), json!("committed")]).await?;
    let committed = tx.execute("COMMIT", []).await;
    tx.commit().await?;
    Ok(Some(committed.is_ok()))
}

#[tokio::test]
async fn sql_cannot_commit_a_part_of_the_operation() {
    let database = database().await;
    let app = App::serve(options(&database).mutations(mutations![commit_by_sql])).await;
    let reply = app
        .query("mutation @atomic { a: commitBySql b: fail }")
        .await;
    let expected = [error("NOT_DONE", "a"), error("BAD_USER_INPUT", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two"]);
    let kept = app.query("mutation @atomic { a: commitBySql }").await;
    assert_eq!(kept.data(), json!({"a": false}));
    assert_eq!(names(&database).await, ["one", "two", "committed"]);
}
