//! Authorizers that `field_authorizer_adapter` calls for the rows that an operation returns.

use std::time::Duration;

use futures_util::future::join;
use serde_json::json;
use svc::DatabaseConfig;
use svc::authz::field_authorizer_adapter;
use svc::prelude::*;
use svc_tests::App;

use super::{database, registered};

#[svc_type(sql_source = "v_item")]
struct GuardedItem {
    id: i32,
    #[svc::authorize_field(field_authorizer_adapter(wait_in_sql, "GuardedItem.name"))]
    name: Option<String>,
}

/// Allows the field once the gate is open.
async fn wait_in_sql(request: AuthorizationRequest) -> Result<bool> {
    let db = request.context().db();
    let _open: i32 = db.call("wait_for_gate", []).await?;
    Ok(true)
}

#[svc::mutation(atomic)]
async fn guarded_items(ctx: &Context<'_>) -> Result<Option<Vec<GuardedItem>>> {
    let items = ctx.db().find::<GuardedItem>().await?;
    Ok(Some(items))
}

#[tokio::test]
async fn the_authorizers_of_many_rows_leave_connections_to_other_clients() {
    let database = database().await;
    database
        .execute(
            "INSERT INTO tb_item SELECT n, 'many' FROM generate_series(11, 40) AS n;
            CREATE SEQUENCE gate;
            CREATE FUNCTION wait_for_gate() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
                FOR n IN 1..2000 LOOP
                    EXIT WHEN (SELECT is_called FROM gate);
                    PERFORM pg_sleep(0.01);
                END LOOP;
                RETURN 1;
            END $$",
        )
        .await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            pool_size: 3,
            pool_timeout: Duration::from_secs(10),
            ..DatabaseConfig::default()
        },
        authorization_timeout: Duration::from_secs(60),
        ..SvcConfig::default()
    };
    let options = registered(AppOptions::new().config(config));
    let app = App::serve(options.mutations(mutations![guarded_items])).await;

    let (guarded, read) = join(
        app.query("mutation @atomic { guardedItems { id name } }"),
        async {
            database.until_running("wait_for_gate", 1).await;
            let read = app
                .query("{ items(limit: 1, orderBy: [{id: ASC}]) { name } }")
                .await;
            database.execute("SELECT nextval('gate')").await;
            read
        },
    )
    .await;
    assert_eq!(read.data(), json!({"items": [{"name": "one"}]}));
    let items = guarded.data();
    assert_eq!(items["guardedItems"].as_array().map(Vec::len), Some(32));
}
