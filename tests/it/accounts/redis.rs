//! Revocations in Redis, and what happens while it is away.
//!
//! `REDIS_PAUSE=0` has the clients of the load ask without a pause.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use svc::RedisClient;
use svc::accounts::{NativeAuthProvider, PostgresUserRepository};
use svc::auth::{RedisRevocationStore, RevocationConfig, TokenRevocationService};
use svc_tests::{App, Redis, TestDatabase, cases, eventually};

use super::client::{
    Held, PASSWORD, assert_accepted, assert_refused, login, refresh, register, user_id, with,
};
use super::service::{accounts, database, factory, provider, serve_provider};
use crate::auth::service::query;

/// The time that a command may take: a Redis that is there answers in it, however busy the machine
/// is.
const ANSWER: Duration = Duration::from_secs(6);
/// The longest that a request may take while Redis is away: that time, and what a busy machine
/// adds. One that waited for a Redis that stands still would do so until that goes on.
const PATIENCE: Duration = Duration::from_secs(50);

fn native(database: &TestDatabase, redis: &Redis, config: RevocationConfig) -> NativeAuthProvider {
    let client = RedisClient::with_timeout(&redis.url(), ANSWER).unwrap();
    let store = RedisRevocationStore::new(&client, Duration::from_secs(60));
    let accounts = accounts(database);
    let factory = factory(&accounts).revocation(TokenRevocationService::new(store, config));
    provider(factory, PostgresUserRepository::new(&accounts))
}

async fn start() -> (App, App, Redis, TestDatabase) {
    let (database, redis) = (database().await, Redis::new().await);
    let first = serve_provider(&native(&database, &redis, RevocationConfig::default())).await;
    let second = serve_provider(&native(&database, &redis, RevocationConfig::default())).await;
    (first, second, redis, database)
}

#[tokio::test]
async fn instances_share_revocations() {
    let (first, second, mut redis, _database) = start().await;
    let held = register(&first, "ada").await;
    let renewed = Held::of(&refresh(&second, &held.refresh).await);
    let kept = Held::of(&login(&second, "ada", PASSWORD).await);
    let reply = with(
        &second,
        &renewed.access,
        "POST",
        "/auth/logout",
        Value::Null,
    )
    .await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    for app in [&first, &second] {
        assert_refused(app, &held).await;
        assert_refused(app, &renewed).await;
        assert_accepted(app, &kept).await;
    }
    with(
        &first,
        &kept.access,
        "POST",
        "/auth/logout-all",
        Value::Null,
    )
    .await;
    let after = Held::of(&login(&first, "ada", PASSWORD).await);
    for app in [&first, &second] {
        assert_refused(app, &kept).await;
        assert_accepted(app, &after).await;
    }
    // What is revoked stays so.
    redis.stop();
    redis.start().await;
    assert_refused(&first, &held).await;
    assert_refused(&second, &kept).await;
    assert_accepted(&first, &after).await;
}

/// Requests that go on while something happens: each is answered in time, with its user or with
/// 503.
struct Load {
    going: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
    closed: Arc<AtomicUsize>,
}

impl Load {
    fn start(app: Arc<App>, token: String) -> Self {
        let (going, closed) = (
            Arc::new(AtomicBool::new(true)),
            Arc::new(AtomicUsize::new(0)),
        );
        let (still, counted) = (going.clone(), closed.clone());
        // Between two requests of a client, as other tests need the processors too.
        let pause = Duration::from_millis(cases("REDIS_PAUSE", 50, 0));
        let task = tokio::spawn(async move {
            let users = (0..16).map(|_| async {
                while still.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    let reply = query(&app, &token, "{ user_id }").await;
                    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
                    if reply.status == 503 {
                        assert_eq!(reply.code(), "SERVICE_UNAVAILABLE");
                        counted.fetch_add(1, Ordering::Relaxed);
                    } else {
                        assert_ne!(reply.data()["user_id"], Value::Null, "{}", reply.text);
                    }
                    if !pause.is_zero() {
                        tokio::time::sleep(pause).await;
                    }
                }
            });
            futures_util::future::join_all(users).await;
        });
        Self {
            going,
            task,
            closed,
        }
    }

    async fn closed(&self) {
        let before = self.closed.load(Ordering::Relaxed);
        eventually(async || match self.closed.load(Ordering::Relaxed) {
            now if now > before => Ok(()),
            now => Err(format!("{now} requests were closed")),
        })
        .await;
    }

    async fn end(self) {
        self.going.store(false, Ordering::Relaxed);
        self.task.await.unwrap();
    }
}

async fn until_open(app: &App, token: &str) {
    eventually(
        async || match query(app, token, "{ user_id }").await.status {
            200 => Ok(()),
            status => Err(status.to_string()),
        },
    )
    .await;
}

/// They are accepted again without a restart once Redis is back.
#[tokio::test]
async fn tokens_are_refused_while_redis_is_stopped() {
    let (app, _second, mut redis, _database) = start().await;
    let app = Arc::new(app);
    let held = register(&app, "ada").await;
    let load = Load::start(app.clone(), held.access.clone());
    for _ in 0..2 {
        redis.stop();
        load.closed().await;
        app.query("{ open }").await.data();
        let reply = with(&app, &held.access, "POST", "/auth/logout", Value::Null).await;
        assert_eq!(reply.status, 503, "{}", reply.text);
        redis.start().await;
        until_open(&app, &held.access).await;
    }
    load.end().await;
    assert_eq!(
        with(&app, &held.access, "POST", "/auth/logout", Value::Null)
            .await
            .status,
        200
    );
    assert_refused(&app, &held).await;
}

/// A Redis that keeps its connections open and does not respond.
#[tokio::test]
async fn requests_do_not_wait_for_a_frozen_redis() {
    let (app, _second, redis, _database) = start().await;
    let app = Arc::new(app);
    let held = register(&app, "ada").await;
    let load = Load::start(app.clone(), held.access.clone());
    for _ in 0..2 {
        let frozen = redis.freeze();
        load.closed().await;
        let start = Instant::now();
        assert_eq!(query(&app, &held.access, "{ open }").await.status, 503);
        assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
        drop(frozen);
        until_open(&app, &held.access).await;
    }
    load.end().await;
}

#[tokio::test]
async fn tokens_can_be_accepted_while_redis_is_unavailable() {
    let (database, mut redis) = (database().await, Redis::new().await);
    let mut config = RevocationConfig::default();
    config.allow_when_away = true;
    let app = serve_provider(&native(&database, &redis, config)).await;
    let held = register(&app, "ada").await;
    redis.stop();
    assert_ne!(user_id(&app, &held.access).await, Value::Null);
}
