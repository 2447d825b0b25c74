//! Sessions that an undone operation has changed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::sessions::{MemorySessionStore, SessionLayer};
use svc::{DatabaseConfig, MutationList, ProtectionConfig, create_svc_app};
use svc_tests::{App, TestDatabase};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::browser::{Browser, config, options};

#[svc::mutation(atomic)]
fn fail() -> Result<bool> {
    Err(Error::new(ErrorCode::BadUserInput, "it failed"))
}

#[tokio::test]
async fn an_undone_operation_leaves_the_session_as_it_was() {
    let database = TestDatabase::new("CREATE TABLE tb_nothing (id int)").await;
    let options = options()
        .database_url(database.url())
        .mutations(mutations![fail]);
    let layer = SessionLayer::new(config()).unwrap();
    let app = App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let undone = r#"mutation @atomic { set(value: "undone") renew fail }"#;
    let reply = browser.send(&app, undone).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    assert_eq!(browser.value(&app).await, "first");

    let mut other = Browser::default();
    other.send(&app, undone).await;
    assert_eq!(other.cookie, None);

    let kept = r#"mutation @atomic { set(value: "kept") renew }"#;
    let reply = browser.send(&app, kept).await;
    assert_eq!(reply.data(), json!({"set": true, "renew": true}));
    assert_eq!(browser.value(&app).await, "kept");
}

/// The operations that run, and the most that have run at the same time.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Leaves time for another operation to begin, and fails.
#[svc::mutation(atomic)]
async fn linger() -> Result<bool> {
    let running = RUNNING.fetch_add(1, Ordering::SeqCst) + 1;
    MOST.fetch_max(running, Ordering::SeqCst);
    sleep(Duration::from_millis(200)).await;
    RUNNING.fetch_sub(1, Ordering::SeqCst);
    Err(Error::new(ErrorCode::BadUserInput, "it failed"))
}

/// The service for batches of two operations.
async fn serve_batches(mutations: MutationList, layer: SessionLayer) -> App {
    serve_batches_within(Duration::from_secs(60), mutations, layer).await
}

/// The same, with a time limit of its operations.
async fn serve_batches_within(
    limit: Duration,
    mutations: MutationList,
    layer: SessionLayer,
) -> App {
    let database = TestDatabase::new("CREATE TABLE tb_nothing (id int)").await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            ..DatabaseConfig::default()
        },
        protection: ProtectionConfig {
            batch_max: 2,
            ..ProtectionConfig::default()
        },
        request_timeout: Some(limit),
        ..SvcConfig::default()
    };
    let options = options()
        .config(config)
        .queries(queries![renew_meanwhile, log_out_meanwhile, occupy])
        .mutations(mutations);
    App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await
}

/// Sends two operations in one request.
async fn send_both(browser: &mut Browser, app: &App, queries: [&str; 2]) -> Value {
    let batch = queries.map(|query| json!({ "query": query }));
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .body(json!(batch).to_string());
    browser.send_request(app, request).await.json()
}

#[tokio::test]
async fn atomic_operations_of_one_session_run_one_at_a_time() {
    let layer = SessionLayer::new(config()).unwrap();
    let app = serve_batches(mutations![linger], layer).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let undone = r#"mutation @atomic { set(value: "undone") renew linger }"#;
    let replies = send_both(&mut browser, &app, [undone, undone]).await;
    for reply in [&replies[0], &replies[1]] {
        assert_eq!(reply["errors"][0]["message"], "it failed", "{replies}");
    }
    assert_eq!(MOST.load(Ordering::SeqCst), 1);
    assert_eq!(browser.value(&app).await, "first");
}

/// Notified when `fail_late` runs, for each of its tests.
static BEFORE_SET: Notify = Notify::const_new();
static BEFORE_RENEWAL: Notify = Notify::const_new();

/// Leaves time for another operation, and fails.
#[svc::mutation(atomic)]
async fn fail_late(renewal: bool) -> Result<bool> {
    let begun = if renewal {
        &BEFORE_RENEWAL
    } else {
        &BEFORE_SET
    };
    begun.notify_one();
    sleep(Duration::from_millis(500)).await;
    Err(Error::new(ErrorCode::BadUserInput, "it failed"))
}

/// Sets the value while `fail_late` runs, or after a while if it waits for this.
#[svc::mutation]
async fn set_meanwhile(ctx: &Context<'_>, value: String) -> Result<bool> {
    // The other operation may wait until this one has ended.
    let _ = timeout(Duration::from_secs(2), BEFORE_SET.notified()).await;
    ctx.session()?.insert("value", &value)?;
    Ok(true)
}

#[tokio::test]
async fn an_undone_operation_discards_no_change_of_another_mutation() {
    let layer = SessionLayer::new(config()).unwrap();
    let app = serve_batches(mutations![fail_late, set_meanwhile], layer).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let undone = r#"mutation @atomic { set(value: "undone") fail_late(renewal: false) }"#;
    let other = r#"mutation { set_meanwhile(value: "other") }"#;
    let replies = send_both(&mut browser, &app, [undone, other]).await;
    assert_eq!(replies[0]["errors"][0]["message"], "it failed", "{replies}");
    assert_eq!(
        replies[1]["data"],
        json!({"set_meanwhile": true}),
        "{replies}"
    );
    assert_eq!(browser.value(&app).await, "other");
}

/// Renews the session while `fail_late` runs. A query does not wait for mutations.
#[svc::query]
async fn renew_meanwhile(ctx: &Context<'_>) -> Result<bool> {
    BEFORE_RENEWAL.notified().await;
    ctx.session()?.renew()?;
    Ok(true)
}

#[tokio::test]
async fn an_undone_operation_discards_no_renewal() {
    let layer = SessionLayer::with_store(config(), MemorySessionStore::new()).unwrap();
    let app = serve_batches(mutations![fail_late], layer).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let mut with_old_cookie = browser.clone();
    let undone = r#"mutation @atomic { set(value: "undone") fail_late(renewal: true) }"#;
    let replies = send_both(&mut browser, &app, [undone, "{ renew_meanwhile }"]).await;
    assert_eq!(
        replies[1]["data"],
        json!({"renew_meanwhile": true}),
        "{replies}"
    );
    assert_eq!(browser.value(&app).await, "first");
    assert_eq!(with_old_cookie.value(&app).await, Value::Null);
}

#[svc::mutation(atomic)]
fn log_out(ctx: &Context<'_>) -> Result<bool> {
    ctx.session()?.clear()?;
    Ok(true)
}

#[tokio::test]
async fn an_undone_operation_keeps_its_log_out() {
    let layer = SessionLayer::with_store(config(), MemorySessionStore::new()).unwrap();
    let app = serve_batches(mutations![log_out, fail], layer).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let mut with_old_cookie = browser.clone();
    let undone = r#"mutation @atomic { log_out set(value: "undone") fail }"#;
    let reply = browser.send(&app, undone).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    assert_eq!(browser.value(&app).await, Value::Null);
    assert_eq!(with_old_cookie.value(&app).await, Value::Null);
}

/// Notified when `fail_after_log_out` runs.
static BEFORE_LOG_OUT: Notify = Notify::const_new();

/// Leaves time for a query, and fails.
#[svc::mutation(atomic)]
async fn fail_after_log_out() -> Result<bool> {
    BEFORE_LOG_OUT.notify_one();
    sleep(Duration::from_millis(500)).await;
    Err(Error::new(ErrorCode::BadUserInput, "it failed"))
}

/// Logs out while `fail_after_log_out` runs.
#[svc::query]
async fn log_out_meanwhile(ctx: &Context<'_>) -> Result<bool> {
    BEFORE_LOG_OUT.notified().await;
    ctx.session()?.clear()?;
    Ok(true)
}

#[tokio::test]
async fn an_undone_operation_takes_no_log_out_of_a_query_back() {
    let layer = SessionLayer::with_store(config(), MemorySessionStore::new()).unwrap();
    let app = serve_batches(mutations![fail_after_log_out], layer).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let mut with_old_cookie = browser.clone();
    let undone = r#"mutation @atomic { set(value: "undone") fail_after_log_out }"#;
    let replies = send_both(&mut browser, &app, [undone, "{ log_out_meanwhile }"]).await;
    assert_eq!(
        replies[1]["data"],
        json!({"log_out_meanwhile": true}),
        "{replies}"
    );
    assert_eq!(browser.value(&app).await, Value::Null);
    assert_eq!(with_old_cookie.value(&app).await, Value::Null);
}

/// Keeps mutations from the session, for longer than they may take.
#[svc::query]
async fn occupy(ctx: &Context<'_>) -> Result<bool> {
    let alone = ctx.session()?.alone().await;
    tokio::spawn(async move {
        sleep(Duration::from_secs(600)).await;
        drop(alone);
    });
    Ok(true)
}

#[svc::mutation]
fn wait_for_turn() -> bool {
    true
}

#[tokio::test]
async fn a_mutation_that_has_only_waited_for_the_session_is_not_done() {
    let limit = Duration::from_secs(2);
    let layer = SessionLayer::new(config()).unwrap();
    let app = serve_batches_within(limit, mutations![wait_for_turn], layer).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let replies = send_both(
        &mut browser,
        &app,
        ["{ occupy }", "mutation { wait_for_turn }"],
    )
    .await;
    assert_eq!(replies[0]["data"], json!({"occupy": true}), "{replies}");
    let late = &replies[1]["errors"][0]["extensions"];
    assert_eq!(late["code"], "TIMEOUT", "{replies}");
    assert_eq!(late["mutation"], "NOT_DONE", "{replies}");
}
