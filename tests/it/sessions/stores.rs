//! Sessions in memory and in Redis.

use std::time::Duration;

use serde_json::{Value, json};
use svc::RedisClient;
use svc::sessions::{MemorySessionStore, RedisSessionStore, SessionLayer};
use svc_tests::{App, Redis, eventually};

use super::browser::{Browser, config, serve};

pub(super) fn redis_layer(redis: &Redis) -> SessionLayer {
    // A busy machine does not make Redis an absence.
    let client = RedisClient::with_timeout(&redis.url(), Duration::from_secs(30)).unwrap();
    SessionLayer::with_store(config(), RedisSessionStore::new(&client)).unwrap()
}

#[tokio::test]
async fn instances_share_sessions() {
    let redis = Redis::new().await;
    let (first, second) = (
        serve(redis_layer(&redis)).await,
        serve(redis_layer(&redis)).await,
    );
    let mut browser = Browser::default();
    browser.set(&first, "one").await;
    assert_eq!(browser.value(&second).await, "one");
    browser.set(&second, "two").await;
    assert_eq!(browser.value(&first).await, "two");
    // A store takes more than a cookie.
    browser.set(&first, &"x".repeat(60_000)).await;
    assert!(browser.cookie.as_ref().unwrap().len() < 300);
    assert_eq!(browser.value(&second).await.as_str().unwrap().len(), 60_000);
}

async fn check_ends(app: &App) {
    let mut browser = Browser::default();
    browser.set(app, "one").await;
    let mut thief = browser.clone();
    browser.send(app, "mutation { renew }").await.data();
    assert_eq!(browser.value(app).await, "one");
    assert_eq!(thief.value(app).await, Value::Null);
    let mut copy = browser.clone();
    browser.send(app, "mutation { clear }").await.data();
    assert_eq!(copy.value(app).await, Value::Null);
    // An identifier that was ended is not taken up again.
    let ended = copy.cookie.clone();
    copy.set(app, "two").await;
    assert_ne!(copy.cookie, ended);
    copy.cookie = ended;
    assert_eq!(copy.value(app).await, Value::Null);
}

#[tokio::test]
async fn an_ended_or_renewed_session_is_gone() {
    let redis = Redis::new().await;
    check_ends(&serve(redis_layer(&redis)).await).await;
    check_ends(
        &serve(SessionLayer::with_store(config(), MemorySessionStore::new()).unwrap()).await,
    )
    .await;
}

/// The sessions that were not used for the longest make room.
#[tokio::test]
async fn memory_is_bounded() {
    let app =
        serve(SessionLayer::with_store(config(), MemorySessionStore::with_bytes(20_000)).unwrap())
            .await;
    let mut first = Browser::default();
    first.set(&app, "first").await;
    for _ in 0..30 {
        Browser::default().set(&app, &"x".repeat(1_000)).await;
    }
    assert_eq!(first.value(&app).await, Value::Null);
    let mut last = Browser::default();
    last.set(&app, "last").await;
    assert_eq!(last.value(&app).await, "last");
}

/// Fields that need no session answer.
#[tokio::test]
async fn an_unreachable_store_fails_only_fields_that_use_sessions() {
    let mut redis = Redis::new().await;
    let app = serve(redis_layer(&redis)).await;
    let mut browser = Browser::default();
    browser.set(&app, "one").await;
    redis.stop();
    assert_eq!(
        browser.send(&app, "{ value }").await.code(),
        "SERVICE_UNAVAILABLE"
    );
    assert_eq!(
        browser
            .send(&app, "mutation { set(value: \"two\") }")
            .await
            .code(),
        "SERVICE_UNAVAILABLE"
    );
    assert_eq!(
        browser.send(&app, "{ open }").await.data(),
        json!({ "open": true })
    );
    // One without a cookie would be lost, and is not told that it is kept.
    let reply = Browser::default()
        .send(&app, "mutation { set(value: \"two\") }")
        .await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "SERVICE_UNAVAILABLE")
    );
    redis.start().await;
    eventually(async || {
        match browser.send(&app, "{ value }").await.json()["data"]["value"].clone() {
            Value::String(value) if value == "one" => Ok(()),
            value => Err(value.to_string()),
        }
    })
    .await;
}
