//! Persisted queries that instances share in Redis.

use std::time::{Duration, Instant};

use serde_json::json;
use svc::{OperationsConfig, RedisClient, SvcConfig};
use svc_tests::{Redis, eventually};

use super::schema::{Store, hash, persisted, store_with};

const DOCUMENT: &str = "query Any { resolved(n: 7) }";
const RESOLVED: &str = r#"{"data":{"resolved":7}}"#;

async fn store(redis: &Redis, registered_only: bool) -> Store {
    let client = RedisClient::with_timeout(&redis.url(), Duration::from_secs(60)).unwrap();
    let operations = OperationsConfig {
        registered_only,
        ..OperationsConfig::default()
    };
    let config = SvcConfig {
        operations,
        ..SvcConfig::default()
    };
    store_with(config, |options| options.redis(client)).await
}

async fn persist(store: &Store) {
    let sent = store
        .app
        .post(&json!({ "query": DOCUMENT, "extensions": persisted(DOCUMENT) }))
        .await;
    assert_eq!(sent.data(), json!({ "resolved": 7 }));
}

/// Waits until an instance knows the document.
async fn until_known(store: &Store) {
    let asked = async || {
        let reply = store.by_hash(DOCUMENT, json!({})).await;
        if reply.text == RESOLVED {
            Ok(())
        } else {
            Err(reply.text)
        }
    };
    eventually(asked).await;
}

#[tokio::test]
async fn a_document_sent_to_one_instance_is_known_to_all() {
    let redis = Redis::new().await;
    let (first, second, only) = (
        store(&redis, false).await,
        store(&redis, false).await,
        store(&redis, true).await,
    );
    assert_eq!(
        second.by_hash(DOCUMENT, json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    persist(&first).await;
    until_known(&second).await;
    let (by_id, fourth) = (
        format!("sha256:{}", hash(DOCUMENT)),
        store(&redis, false).await,
    );
    // It may take a while until it is connected.
    eventually(async || {
        let reply = fourth.by_id(&by_id, json!({})).await;
        if reply.text == RESOLVED {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
    assert_eq!(
        only.by_hash(DOCUMENT, json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND",
        "it was not registered"
    );
}

#[tokio::test]
async fn an_absent_or_wrong_redis_costs_one_round_trip_at_most() {
    let mut redis = Redis::new().await;
    let (first, second) = (store(&redis, false).await, store(&redis, false).await);
    let set = format!("SET svc:persisted:{} \"{{ required }}\"", hash(DOCUMENT));
    let answer = redis.answer(&set).await;
    assert!(answer.starts_with("+OK\r\n"), "{answer}");
    assert_eq!(
        first.by_hash(DOCUMENT, json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND",
        "it is another text"
    );
    redis.stop();
    let start = Instant::now();
    assert_eq!(
        first.by_hash(DOCUMENT, json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    persist(&first).await;
    until_known(&first).await;
    assert!(
        start.elapsed() < Duration::from_secs(50),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        second.by_hash(DOCUMENT, json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
}

/// The bytes that Redis holds.
async fn held(redis: &Redis) -> usize {
    let text = redis.answer("INFO memory").await;
    text.lines()
        .find_map(|line| line.strip_prefix("used_memory:")?.parse().ok())
        .expect("a number")
}

/// Anyone may persist documents, and Redis holds more than these.
#[tokio::test]
async fn clients_cannot_fill_redis() {
    let redis = Redis::new().await;
    let (first, second) = (store(&redis, false).await, store(&redis, false).await);
    let log = svc_tests::Log::start();
    let filler = "x".repeat(900_000);
    for number in 0..45 {
        let document = format!("#{filler}{number}\n{{ resolved(n: 7) }}");
        let sent = first
            .app
            .post(&json!({ "query": document, "extensions": persisted(&document) }))
            .await;
        assert_eq!(sent.data(), json!({ "resolved": 7 }));
    }
    log.has("clients persist too many documents").await;
    // Documents are kept beside the answers to their requests.
    let bytes = eventually(async || match held(&redis).await {
        bytes if bytes >= 20_000_000 => Ok(bytes),
        bytes => Err(format!("{bytes} bytes")),
    })
    .await;
    assert!(bytes < 45_000_000, "{bytes} bytes");
    // The instance itself goes on, and others do.
    persist(&first).await;
    until_known(&first).await;
    persist(&second).await;
    until_known(&store(&redis, false).await).await;
}
