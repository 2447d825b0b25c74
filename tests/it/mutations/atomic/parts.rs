//! Transactions of bodies, which are parts of the transaction of the operation.

use serde_json::json;
use svc::prelude::*;
use svc_tests::App;

use super::{INSERT, Item, database, error, errors, names, options};

/// Tries to run statements outside of a transaction with another role.
#[svc::mutation(atomic)]
async fn lower(ctx: &Context<'_>) -> Result<Option<String>> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute("SET LOCAL ROLE pg_read_all_data", []).await?;
    let call = ctx.db().call::<String>("whoami", []).await.is_err();
    let read = ctx.db().find::<Item>().await.is_err();
    let other = ctx.db().transaction().await.is_err();
    let role: String = tx.call("whoami", []).await?;
    tx.commit().await?;
    let after: String = ctx.db().call("whoami", []).await?;
    Ok(Some(format!(
        "{call} {read} {other} {role} {}",
        after == role
    )))
}

#[tokio::test]
async fn only_the_open_transaction_of_a_body_runs_statements() {
    let database = database().await;
    database
        .execute(
            "CREATE FUNCTION whoami() RETURNS text LANGUAGE sql STABLE AS 'SELECT current_user::text'",
        )
        .await;
    let app = App::serve(options(&database).mutations(mutations![lower])).await;
    let reply = app.query("mutation @atomic { lower }").await;
    let expected = json!({"lower": "true true true pg_read_all_data false"});
    assert_eq!(reply.data(), expected);
}

/// Leaves a savepoint behind.
#[svc::mutation(atomic)]
async fn save(ctx: &Context<'_>) -> Result<Option<bool>> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute("SAVEPOINT mine", []).await?;
    tx.execute(INSERT, [json!(70), json!("saved")]).await?;
    tx.commit().await?;
    Ok(Some(true))
}

/// Returns to a savepoint of another field, unless it makes one of that name.
#[svc::mutation(atomic)]
async fn go_back(ctx: &Context<'_>, saves: bool) -> Result<Option<bool>> {
    let mut tx = ctx.db().transaction().await?;
    if saves {
        tx.execute("SAVEPOINT mine", []).await?;
        tx.execute(INSERT, [json!(71), json!("undone")]).await?;
    }
    tx.execute("ROLLBACK TO mine", []).await?;
    tx.commit().await?;
    Ok(Some(true))
}

#[tokio::test]
async fn a_field_cannot_return_to_a_savepoint_of_another() {
    let database = database().await;
    let app = App::serve(options(&database).mutations(mutations![save, go_back])).await;
    let query = "mutation @atomic { a: save b: goBack(saves: false) }";
    let reply = app.query(query).await;
    let expected = [error("NOT_DONE", "a"), error("INTERNAL_SERVER_ERROR", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two"]);
    let query = "mutation @atomic { a: save b: goBack(saves: true) }";
    assert_eq!(app.query(query).await.data(), json!({"a": true, "b": true}));
    assert_eq!(names(&database).await, ["one", "two", "saved"]);
}
