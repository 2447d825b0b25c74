//! Authorizers that `field_authorizer_adapter` calls for the rows that an operation returns.

use std::time::Duration;

use futures_util::future::join;
use serde_json::json;
use svc::DatabaseConfig;
use svc::authz::field_authorizer_adapter;
use svc::prelude::*;
use svc::testing::TestService;
use svc_tests::{App, next_answer};

use super::checks::{listen, one_connection};
use super::{ItemPatch, database, error, errors, names, registered};

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

#[svc_type(sql_source = "v_item")]
struct ReportedItem {
    id: i32,
    #[svc::authorize_field(field_authorizer_adapter(report_field, "ReportedItem.name"))]
    name: Option<String>,
}

/// Reports that a field is read.
async fn report_field(request: AuthorizationRequest) -> Result<bool> {
    let field = request.operation_name();
    request.context().publish("said", field).await?;
    Ok(true)
}

#[svc::mutation(update = "tb_item", atomic)]
async fn update_reported(id: i32, input: ItemPatch) -> Option<ReportedItem>;

#[tokio::test]
async fn an_event_of_an_authorizer_in_a_check_follows_the_operation() {
    let database = database().await;
    let options = one_connection(&database).mutations(mutations![update_reported]);
    let service = TestService::start(options).await.unwrap();
    let mut heard = listen(&service).await;
    let app = App::serve_router(service.router()).await;
    let reply = app
        .query(
            r#"mutation @atomic {
                a: updateReported(id: 1, input: {name: "changed"}) { name }
                b: fail
            }"#,
        )
        .await;
    let expected = [error("NOT_DONE", "a"), error("BAD_USER_INPUT", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(
        next_answer(&mut heard).await,
        json!({"data": {"said": "ReportedItem.name"}})
    );
    assert_eq!(names(&database).await, ["one", "two"]);
}
