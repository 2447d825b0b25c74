//! Clients that take nothing keep no connection of the pool from others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use svc::futures_util::stream;
use svc::prelude::*;
use svc::{DatabaseConfig, SubscriptionsConfig};
use svc_tests::{App, Socket, TestDatabase, eventually, within};

#[svc_type(sql_source = "v_long")]
struct Long {
    id: i32,
    text: String,
}

#[svc::query]
async fn longs() -> Vec<Long>;

/// A client that takes nothing and answers no ping stays, however long the machine takes for the
/// rest of a test.
fn unhurried() -> SubscriptionsConfig {
    let long = Duration::from_secs(3_600);
    SubscriptionsConfig {
        write_timeout: long,
        ping_interval: long,
        ..SubscriptionsConfig::default()
    }
}

/// The operations of a socket go on while its client takes no message: a statement in the middle
/// would keep its connection of the pool.
#[tokio::test]
async fn a_client_that_reads_nothing_keeps_no_connection_of_the_pool() {
    let database = TestDatabase::new(
        "CREATE VIEW v_long AS SELECT n AS id, repeat('x', 1000000) AS text FROM generate_series(1, 3) AS n",
    )
    .await;
    let subscriptions = unhurried();
    let pool = DatabaseConfig {
        url: Some(database.url()),
        pool_size: 1,
        ..DatabaseConfig::default()
    };
    let options = AppOptions::new().config(SvcConfig {
        database: pool,
        subscriptions,
        ..SvcConfig::default()
    });
    let app = App::serve(options.queries(queries![longs])).await;
    let mut socket = Socket::ready(&app).await;
    for id in 0..20 {
        socket
            .subscribe(&id.to_string(), "{ longs { id text } }")
            .await;
    }
    // They are more than the system takes for a client that does not read, and are all asked for.
    within(Duration::from_secs(120), async || {
        match database.statements("v_long").await {
            all if all >= 20 => Ok(()),
            some => Err(format!("{some} statements of 20")),
        }
    })
    .await;
    assert_eq!(
        app.query("{ longs { id } }").await.data()["longs"][2]["id"],
        3
    );
    let first = socket.next().await;
    assert_eq!(
        first["payload"]["data"]["longs"][0]["text"]
            .as_str()
            .map(str::len),
        Some(1_000_000)
    );
}

/// A row that is read as soon as the lock 7 is free.
#[svc_type(sql_source = "v_held")]
struct Held {
    id: i32,
    text: String,
}

#[svc::query]
async fn held() -> Vec<Held>;

#[svc::subscription(channel = "held_changed")]
async fn held_changed() -> Held;

/// A text that no client takes at once.
#[svc::subscription]
fn longest(ctx: &Context<'_>) -> Result<impl Stream<Item = String>> {
    let asked = ctx.data::<Arc<AtomicUsize>>()?.clone();
    Ok(stream::repeat_with(move || {
        asked.fetch_add(1, Ordering::SeqCst);
        "x".repeat(1 << 24)
    }))
}

/// A row that is being read for a subscription while the client takes nothing of another one.
#[tokio::test]
async fn a_subscriber_that_reads_nothing_keeps_no_connection_of_the_pool() {
    let sql = "CREATE VIEW v_held AS SELECT 1 AS id, pg_advisory_xact_lock_shared(7)::text AS text";
    let database = TestDatabase::new(sql).await;
    let subscriptions = unhurried();
    let pool = DatabaseConfig {
        url: Some(database.url()),
        pool_size: 1,
        ..DatabaseConfig::default()
    };
    let asked = Arc::new(AtomicUsize::new(0));
    let options = AppOptions::new().config(SvcConfig {
        database: pool,
        subscriptions,
        ..SvcConfig::default()
    });
    let options = options
        .queries(queries![held])
        .subscriptions(subscriptions![held_changed, longest]);
    let app = App::serve(options.data(asked.clone())).await;
    let others = database.pool().await;
    let mut lock = others.acquire().await.unwrap();
    sqlx::query("SELECT pg_advisory_lock(7)")
        .execute(&mut *lock)
        .await
        .unwrap();
    let mut socket = Socket::ready(&app).await;
    socket
        .subscribe("row", "subscription { held_changed { id text } }")
        .await;
    eventually(async || {
        database.execute(r#"SELECT pg_notify('held_changed', '{"id": 1}')"#).await;
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        match sqlx::query_scalar::<_, i64>(waits).fetch_one(&others).await {
            Ok(0) => Err("nothing is read".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    })
    .await;
    socket
        .subscribe("longest", "subscription { longest }")
        .await;
    eventually(async || match asked.load(Ordering::SeqCst) {
        0 => Err("the long message is not sent yet".to_owned()),
        _ => Ok(()),
    })
    .await;
    sqlx::query("SELECT pg_advisory_unlock(7)")
        .execute(&mut *lock)
        .await
        .unwrap();
    assert_eq!(
        app.query("{ held { id } }").await.data()["held"][0]["id"],
        1
    );
    // The row waits for its turn.
    let (first, second) = (socket.next().await, socket.next().await);
    assert_eq!(
        (&first["id"], &second["id"]),
        (&json!("longest"), &json!("row"))
    );
}
