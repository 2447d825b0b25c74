//! Checks on the pool of the service, whose clients may take nothing meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use svc::futures_util::{StreamExt as _, stream};
use svc::prelude::*;
use svc::{AuthConfig, DatabaseConfig, SubscriptionsConfig};
use svc_tests::{App, Socket, TestDatabase, eventually};
use tokio::sync::Semaphore;

use super::super::{ADA, bearer, of};
use crate::auth::service::provider;

/// A row that is read as soon as the lock 7 is free.
#[svc_type(sql_source = "v_locked")]
struct Locked {
    id: i32,
    text: String,
}

#[svc::query]
async fn locked() -> Vec<Locked>;

/// The gate of the long texts, and the numbers of streams and of texts so far.
#[derive(Clone)]
struct Texts {
    gate: Arc<Semaphore>,
    streams: Arc<AtomicUsize>,
    produced: Arc<AtomicUsize>,
}

async fn until_one(count: &AtomicUsize, of: &str) {
    eventually(async || match count.load(Ordering::SeqCst) {
        0 => Err(format!("there is no {of} yet")),
        _ => Ok(()),
    })
    .await;
}

/// Texts that no client takes at once, each for a permit.
#[svc::subscription]
fn texts(ctx: &Context<'_>) -> Result<impl Stream<Item = String>> {
    let texts = ctx.data::<Texts>()?.clone();
    texts.streams.fetch_add(1, Ordering::SeqCst);
    Ok(stream::repeat(texts).then(|texts| async move {
        texts.gate.acquire().await.expect("an open gate").forget();
        texts.produced.fetch_add(1, Ordering::SeqCst);
        "x".repeat(1 << 24)
    }))
}

fn config(database: &TestDatabase) -> SvcConfig {
    let long = Duration::from_secs(3_600);
    SvcConfig {
        auth: AuthConfig {
            timeout: Duration::from_secs(60),
            ..AuthConfig::default()
        },
        database: DatabaseConfig {
            url: Some(database.url()),
            pool_size: 1,
            ..DatabaseConfig::default()
        },
        subscriptions: SubscriptionsConfig {
            user_interval: Duration::from_millis(200),
            write_timeout: long,
            ping_interval: long,
            ..SubscriptionsConfig::default()
        },
        ..SvcConfig::default()
    }
}

/// The check of a user is in the middle of a statement when its client stops reading.
#[tokio::test]
async fn a_check_of_a_client_that_reads_nothing_keeps_no_connection_of_the_pool() {
    let sql =
        "CREATE VIEW v_locked AS SELECT 1 AS id, pg_advisory_xact_lock_shared(7)::text AS text";
    let database = TestDatabase::new(sql).await;
    let texts_of_test = Texts {
        gate: Arc::new(Semaphore::new(0)),
        streams: Arc::default(),
        produced: Arc::default(),
    };
    let options = AppOptions::new()
        .config(config(&database))
        .queries(queries![locked])
        .subscriptions(subscriptions![texts])
        .auth_provider(provider())
        .load_user(Duration::ZERO, |user| async move {
            user.db().find::<Locked>().await?;
            Ok(Some(user.into_user()))
        });
    let app = App::serve(options.data(texts_of_test.clone())).await;
    let payload = json!({ "authorization": bearer(&of(ADA)) });
    let mut socket = Socket::ready_with(&app, payload).await;
    socket.subscribe("texts", "subscription { texts }").await;
    until_one(&texts_of_test.streams, "stream").await;

    let others = database.pool().await;
    let mut lock = others.acquire().await.unwrap();
    sqlx::query("SELECT pg_advisory_lock(7)")
        .execute(&mut *lock)
        .await
        .unwrap();
    eventually(async || {
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        match sqlx::query_scalar::<_, i64>(waits).fetch_one(&others).await {
            Ok(0) => Err("no check is under way".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    })
    .await;
    texts_of_test.gate.add_permits(1);
    until_one(&texts_of_test.produced, "text").await;
    sqlx::query("SELECT pg_advisory_unlock(7)")
        .execute(&mut *lock)
        .await
        .unwrap();

    assert_eq!(
        app.query("{ locked { id } }").await.data()["locked"][0]["id"],
        1
    );
}
