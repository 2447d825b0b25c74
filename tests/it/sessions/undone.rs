//! Sessions that an undone operation has changed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use svc::prelude::*;
use svc::sessions::SessionLayer;
use svc::{DatabaseConfig, ProtectionConfig, create_svc_app};
use svc_tests::{App, TestDatabase};

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
    tokio::time::sleep(Duration::from_millis(200)).await;
    RUNNING.fetch_sub(1, Ordering::SeqCst);
    Err(Error::new(ErrorCode::BadUserInput, "it failed"))
}

#[tokio::test]
async fn atomic_operations_of_one_session_run_one_at_a_time() {
    let database = TestDatabase::new("CREATE TABLE tb_nothing (id int)").await;
    let config_of_batches = SvcConfig {
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
    let options = options()
        .config(config_of_batches)
        .mutations(mutations![linger]);
    let layer = SessionLayer::new(config()).unwrap();
    let app = App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let undone = json!({ "query": r#"mutation @atomic { set(value: "undone") renew linger }"# });
    let batch = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .body(json!([undone, undone]).to_string());
    let replies = browser.send_request(&app, batch).await.json();
    for reply in [&replies[0], &replies[1]] {
        assert_eq!(reply["errors"][0]["message"], "it failed", "{replies}");
    }
    assert_eq!(MOST.load(Ordering::SeqCst), 1);
    assert_eq!(browser.value(&app).await, "first");
}
