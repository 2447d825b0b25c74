//! Decisions about fields of the rows that an operation writes.

use std::sync::OnceLock;
use std::time::Duration;

use futures_util::future::join;
use serde_json::{Value, json};
use svc::DatabaseConfig;
use svc::authz::{OperationType, field_authorizer_adapter};
use svc::db::Db;
use svc::prelude::*;
use svc::testing::{Subscribed, Subscription, TestService};
use svc_tests::{App, TestDatabase, eventually, next_answer};
use tokio::time::timeout;

use super::{ItemPatch, database, error, errors, fail, items, names, options, registered, said};

#[svc_type(sql_source = "v_item")]
pub(super) struct WatchedItem {
    id: i32,
    #[svc::authorize_field(report)]
    name: Option<String>,
}

/// Reports that the name of an item is read.
async fn report(item: &WatchedItem, request: AuthorizationRequest) -> Result<bool> {
    let text = format!("read {}", item.id);
    request.context().publish("said", &text).await?;
    Ok(true)
}

#[svc::mutation(update = "tb_item", atomic)]
pub(super) async fn update_watched(id: i32, input: ItemPatch) -> Option<WatchedItem>;

/// Subscribes to all that is said.
pub(super) async fn listen(service: &TestService) -> Subscribed {
    eventually(async || {
        let subscribed = service.subscribe(Subscription::new("subscription { said }"));
        subscribed.await.map_err(|refused| refused.to_string())
    })
    .await
}

#[tokio::test]
async fn an_event_of_a_check_is_published_although_the_operation_is_undone() {
    let database = database().await;
    let options = options(&database).mutations(mutations![update_watched]);
    let service = TestService::start(options).await.unwrap();
    let mut heard = listen(&service).await;
    let app = App::serve_router(service.router()).await;
    let reply = app
        .query(
            r#"mutation @atomic {
                a: updateWatched(id: 1, input: {name: "changed"}) { name }
                b: say(text: "undone")
                c: fail
            }"#,
        )
        .await;
    let expected = [
        error("NOT_DONE", "a"),
        error("NOT_DONE", "b"),
        error("BAD_USER_INPUT", "c"),
    ];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(
        next_answer(&mut heard).await,
        json!({"data": {"said": "read 1"}})
    );
    assert_eq!(names(&database).await, ["one", "two"]);
}

/// The service with events of PostgreSQL and one connection for all statements.
pub(super) fn one_connection(database: &TestDatabase) -> AppOptions {
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            pool_size: 1,
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .auto_camel_case(true)
        .queries(queries![items])
        .mutations(mutations![update_watched, fail])
        .subscriptions(subscriptions![said])
        .event_channels(["said"])
}

#[tokio::test]
async fn the_event_of_a_check_needs_no_connection_beside_that_of_the_operation() {
    let database = database().await;
    let service = TestService::start(one_connection(&database)).await.unwrap();
    let mut heard = listen(&service).await;
    let app = App::serve_router(service.router()).await;
    let kept = app
        .query(
            r#"mutation @atomic {
                a: updateWatched(id: 1, input: {name: "kept"}) { name }
                b: updateWatched(id: 2, input: {name: "also"}) { name }
            }"#,
        )
        .await;
    let written = json!({"a": {"name": "kept"}, "b": {"name": "also"}});
    assert_eq!(kept.data(), written);
    for text in ["read 1", "read 2"] {
        assert_eq!(
            next_answer(&mut heard).await,
            json!({"data": {"said": text}})
        );
    }

    let undone = app
        .query(
            r#"mutation @atomic {
                a: updateWatched(id: 1, input: {name: "undone"}) { name }
                b: fail
            }"#,
        )
        .await;
    let expected = [error("NOT_DONE", "a"), error("BAD_USER_INPUT", "b")];
    assert_eq!(errors(&undone), expected, "{}", undone.text);
    let read = json!({"data": {"said": "read 1"}});
    assert_eq!(next_answer(&mut heard).await, read);
    assert_eq!(names(&database).await, ["kept", "also"]);
}

#[tokio::test]
async fn an_event_of_a_check_is_published_after_the_deadline_of_its_operation() {
    let database = database().await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            ..DatabaseConfig::default()
        },
        request_timeout: Some(Duration::from_secs(5)),
        ..SvcConfig::default()
    };
    let options = registered(AppOptions::new().config(config));
    let service = TestService::start(options.mutations(mutations![update_watched]))
        .await
        .unwrap();
    let mut heard = listen(&service).await;
    let app = App::serve_router(service.router()).await;
    let query = r#"mutation @atomic {
        a: updateWatched(id: 1, input: {name: "late"}) { name }
        b: doze
    }"#;
    let (late, early) = join(app.query(query), async {
        // The check has run before the second field.
        database.until_running("doze", 1).await;
        timeout(Duration::from_millis(500), heard.next()).await
    })
    .await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(late.json()["data"], Value::Null, "{}", late.text);
    let read = json!({"data": {"said": "read 1"}});
    assert_eq!(next_answer(&mut heard).await, read);
    assert_eq!(names(&database).await, ["one", "two"]);
}

#[svc_type(sql_source = "v_item", authorize_fields = ["name"])]
struct GatedItem {
    id: i32,
    name: Option<String>,
}

#[svc::mutation(update = "tb_item", atomic)]
async fn update_gated(id: i32, input: ItemPatch) -> Option<GatedItem>;

/// The database of a request, as the authorizer of a field has kept it.
static KEPT: OnceLock<Db> = OnceLock::new();

async fn keep_database_of_field(request: AuthorizationRequest) -> bool {
    if request.operation_type() == OperationType::Field {
        // The field is asked about once.
        let _ = KEPT.set(request.context().db().clone());
    }
    true
}

#[svc::mutation(atomic)]
async fn write_beside() -> Result<Option<i32>> {
    let db = KEPT.get().ok_or_else(|| Error::internal("no database"))?;
    db.call("add_item", [json!(67), json!("beside")])
        .await
        .map(Some)
}

#[tokio::test]
async fn a_database_that_the_authorizer_of_a_field_keeps_is_outside_of_the_transaction() {
    let database = database().await;
    let options = options(&database)
        .mutations(mutations![update_gated, write_beside])
        .authorizer(keep_database_of_field);
    let app = App::serve(options).await;
    let reply = app
        .query(
            r#"mutation @atomic {
                a: updateGated(id: 1, input: {name: "changed"}) { name }
                b: writeBeside
                c: fail
            }"#,
        )
        .await;
    let expected = [
        error("NOT_DONE", "a"),
        error("NOT_DONE", "b"),
        error("BAD_USER_INPUT", "c"),
    ];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two", "beside"]);
}

#[svc_type(sql_source = "v_item")]
struct AdaptedItem {
    id: i32,
    #[svc::authorize_field(field_authorizer_adapter(record_denial, "AdaptedItem.name"))]
    name: Option<String>,
}

/// Denies, and records that.
async fn record_denial(request: AuthorizationRequest) -> Result<bool> {
    let name = json!(request.operation_name());
    let db = request.context().db();
    let _recorded: i32 = db.call("add_item", [json!(70), name]).await?;
    Ok(false)
}

#[svc::mutation(update = "tb_item", atomic)]
async fn update_adapted(id: i32, input: ItemPatch) -> Option<AdaptedItem>;

#[tokio::test]
async fn a_record_of_an_authorizer_in_a_check_outlasts_the_operation_that_it_denies() {
    let database = database().await;
    let app = App::serve(options(&database).mutations(mutations![update_adapted])).await;
    let reply = app
        .query(
            r#"mutation @atomic {
                a: updateAdapted(id: 1, input: {name: "changed"}) { name }
            }"#,
        )
        .await;
    assert_eq!(errors(&reply), [error("FORBIDDEN", "a")], "{}", reply.text);
    let recorded = ["one", "two", "AdaptedItem.name"];
    assert_eq!(names(&database).await, recorded);
}
