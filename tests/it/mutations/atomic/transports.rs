//! All ways to send an operation run it in one transaction.

use std::sync::OnceLock;

use futures_util::future::join;
use serde_json::{Value, json};
use svc::db::Db;
use svc::prelude::*;
use svc::{DatabaseConfig, Operation, ProtectionConfig};
use svc_tests::{App, Events, Socket, TestDatabase};

use super::{database, names, options, registered};

/// Its second field fails.
const UNDONE: &str = "mutation @atomic { a: plainly(id: 20) b: fail }";

/// The code of the first error.
fn code(response: &Value) -> &Value {
    &response["errors"][0]["extensions"]["code"]
}

/// Checks that a response belongs to the failing operation, and that nothing of it was kept.
async fn is_undone(database: &TestDatabase, response: &Value) {
    assert_eq!(
        response["data"],
        json!({"a": null, "b": null}),
        "{response}"
    );
    assert_eq!(*code(response), json!("NOT_DONE"), "{response}");
    assert_eq!(names(database).await, ["one", "two"]);
}

#[tokio::test]
async fn an_operation_on_a_socket_or_a_stream_of_events_is_atomic() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", UNDONE).await;
    let message = socket.next().await;
    assert_eq!(message["type"], "next", "{message}");
    is_undone(&database, &message["payload"]).await;

    let mut events = Events::post(&app, "text/event-stream", UNDONE).await;
    let text = events.until("\n\nevent: complete").await;
    let data = text.lines().find_map(|line| line.strip_prefix("data: "));
    let response: Value = serde_json::from_str(data.unwrap()).unwrap();
    is_undone(&database, &response).await;
}

#[tokio::test]
async fn each_operation_of_a_batch_has_its_transaction() {
    let database = database().await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            ..DatabaseConfig::default()
        },
        protection: ProtectionConfig {
            batch_max: 2,
            ..ProtectionConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = registered(AppOptions::new().config(config));
    let app = App::serve(options).await;
    let kept = "mutation @atomic { a: plainly(id: 30) b: plainly(id: 31) }";
    let replies = app
        .post(&json!([{ "query": UNDONE }, { "query": kept }]))
        .await
        .json();
    assert_eq!(*code(&replies[0]), json!("NOT_DONE"), "{replies}");
    assert_eq!(replies[1]["data"], json!({"a": 30, "b": 31}), "{replies}");
    assert_eq!(names(&database).await, ["one", "two", "plain", "plain"]);
}

/// The database of an operation, as the authorizer of its fields has kept it.
static KEPT: OnceLock<Db> = OnceLock::new();

async fn keep_database(request: AuthorizationRequest) -> bool {
    if request.operation_name() == "writeOutside" {
        // The operation runs once.
        let _ = KEPT.set(request.context().db().clone());
    }
    true
}

/// Needs two connections besides that of the operation.
#[svc::mutation(atomic)]
async fn write_outside() -> Result<Option<i32>> {
    let db = KEPT.get().ok_or_else(|| Error::internal("no database"))?;
    let write = |id: i32| db.call::<i32>("add_item", [json!(id), json!("outside")]);
    let (one, other) = join(write(68), write(69)).await;
    Ok(Some(one? + other?))
}

#[tokio::test]
async fn statements_outside_of_the_transaction_do_not_wait_for_its_connection() {
    let database = database().await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            request_connections: Some(1),
            ..DatabaseConfig::default()
        },
        protection: ProtectionConfig {
            batch_max: 2,
            ..ProtectionConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = registered(AppOptions::new().config(config))
        .mutations(mutations![write_outside])
        .authorizer(keep_database);
    let app = App::serve(options).await;
    let writing = "mutation @atomic { a: plainly(id: 30) b: writeOutside }";
    let replies = app
        .post(&json!([{ "query": writing }, { "query": "{ tick }" }]))
        .await
        .json();
    assert_eq!(replies[0]["data"], json!({"a": 30, "b": 137}), "{replies}");
    let kept = ["one", "two", "plain", "outside", "outside"];
    assert_eq!(names(&database).await, kept);
}

#[tokio::test]
async fn the_sql_of_a_registered_operation_is_not_used() {
    let database = database().await;
    let kept = "mutation Kept @atomic { a: plainly(id: 30) b: plainly(id: 31) }";
    let undone = UNDONE.replace("@atomic", "Undone @atomic");
    let sql =
        "INSERT INTO tb_item VALUES (40, 'by SQL') RETURNING to_jsonb(id) AS a, to_jsonb(id) AS b";
    let app = App::serve(options(&database).operations([
        Operation::new(kept).sql(sql),
        Operation::new(undone.clone()).sql(sql),
    ]))
    .await;
    is_undone(&database, &app.query(&undone).await.json()).await;
    assert_eq!(app.query(kept).await.data(), json!({"a": 30, "b": 31}));
    assert_eq!(names(&database).await, ["one", "two", "plain", "plain"]);
}
