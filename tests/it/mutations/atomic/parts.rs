//! Transactions of bodies, which are parts of the transaction of the operation.

use serde_json::json;
use svc::prelude::*;
use svc_tests::App;

use super::{Item, database, options};

/// Tries to run statements outside of a transaction with another role.
#[svc::mutation]
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
