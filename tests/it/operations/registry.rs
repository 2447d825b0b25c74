//! Operations that are registered while the program runs.

use serde_json::json;
use svc::db::AssertSqlSafe;
use svc::{Operation, OperationRegistry, SvcConfig, create_svc_app};

use super::schema::{Runs, hash, options, store_with};

fn numbered(n: i32) -> String {
    format!("query Number{n} {{ resolved(n: {n}) }}")
}

#[tokio::test]
async fn operations_are_registered_and_removed_at_run_time() {
    let registry = OperationRegistry::new();
    assert!(registry.is_empty() && !registry.remove("Number1"));
    let early = registry
        .register(Operation::new(numbered(1)))
        .unwrap_err()
        .to_string();
    assert!(
        early.contains("the registry belongs to no application yet"),
        "{early}"
    );

    let store = store_with(SvcConfig::default(), |options| {
        options.operation_registry(registry.clone())
    })
    .await;
    assert_eq!(
        store.by_id("Number1", json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    registry.register(Operation::new(numbered(1))).unwrap();
    assert_eq!(registry.len(), 1);
    assert_eq!(
        store.by_id("Number1", json!({})).await.data(),
        json!({ "resolved": 1 })
    );

    // The same text again takes the place of the first.
    let sql = "SELECT to_jsonb(100) AS resolved";
    registry
        .register(Operation::new(numbered(1)).sql(sql))
        .unwrap();
    assert_eq!(
        (
            registry.len(),
            store.by_id("Number1", json!({})).await.data()
        ),
        (1, json!({ "resolved": 100 }))
    );
    let other = registry
        .register(Operation::new("query Number1 { optional }"))
        .unwrap_err()
        .to_string();
    assert!(
        other.ends_with("is named `Number1` as well; every name can be given once"),
        "{other}"
    );
    let broken = registry
        .register(Operation::new("query Broken { nothing }"))
        .unwrap_err();
    assert_eq!(broken.operation, "`query Broken { nothing }`");
    assert!(
        broken.reason.starts_with("the document is not valid: "),
        "{broken}"
    );
    assert_eq!(registry.len(), 1);

    assert!(registry.remove(&format!("sha256:{}", hash(&numbered(1)))) && registry.is_empty());
    assert!(!registry.remove("Number1"));
    assert_eq!(
        store.by_id("Number1", json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    assert_eq!(
        store.app.query(&numbered(1)).await.data(),
        json!({ "resolved": 1 })
    );
    registry
        .register(Operation::new("query Number1 { optional }"))
        .unwrap();

    let again = create_svc_app(
        options(SvcConfig::default(), store.database.url(), &Runs::default())
            .operation_registry(registry),
    )
    .await;
    let error = again.unwrap_err().to_string();
    assert!(
        error.contains("the operation registry: it belongs to another application already"),
        "{error}"
    );
}

/// The one that was used least recently makes room; its document is one as any other again.
#[tokio::test]
async fn a_full_registry_evicts_unused_operations() {
    let registry = OperationRegistry::new();
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            max: 2,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let store = store_with(config, |options| {
        options
            .operation_registry(registry.clone())
            .operations([Operation::new(numbered(1))])
    })
    .await;
    registry.register(Operation::new(numbered(2))).unwrap();
    store.by_id("Number1", json!({})).await.data();
    registry.register(Operation::new(numbered(3))).unwrap();
    assert_eq!(registry.len(), 2);
    assert_eq!(
        store.by_id("Number2", json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    assert_eq!(
        store.by_hash(&numbered(2), json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    assert_eq!(
        store.app.query(&numbered(2)).await.data(),
        json!({ "resolved": 2 })
    );
    // By its text counts as a use, too.
    store.app.query(&numbered(1)).await.data();
    registry.register(Operation::new(numbered(2))).unwrap();
    for (n, known) in [(1, true), (2, true), (3, false)] {
        assert_eq!(
            store
                .by_id(&format!("Number{n}"), json!({}))
                .await
                .json()
                .get("data")
                .is_some(),
            known,
            "{n}"
        );
    }
}

/// They are bounded in size as well.
#[tokio::test]
async fn large_operations_evict_others() {
    let registry = OperationRegistry::new();
    let store = store_with(SvcConfig::default(), |options| {
        options.operation_registry(registry.clone())
    })
    .await;
    let large = |n: i32, mebibytes: usize| {
        let filler = "x".repeat(mebibytes << 20);
        let sql = format!("SELECT to_jsonb({n}) AS resolved --{filler}");
        Operation::new(numbered(n)).sql(AssertSqlSafe(sql))
    };
    registry.register(large(1, 33)).unwrap();
    registry.register(large(2, 33)).unwrap();
    assert_eq!(registry.len(), 1);
    assert_eq!(
        store.by_id("Number1", json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    let error = registry.register(large(3, 65)).unwrap_err();
    assert_eq!(
        error.reason,
        "it is larger than all operations together may be (64 MiB)"
    );
    assert_eq!(registry.len(), 1);
}

#[tokio::test]
async fn concurrent_changes_leave_the_registry_consistent() {
    let registry = OperationRegistry::new();
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            max: 5,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let store = store_with(config, |options| {
        options.operation_registry(registry.clone())
    })
    .await;
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let registry = registry.clone();
            std::thread::spawn(move || {
                for n in 0..50 {
                    registry.register(Operation::new(numbered(n % 9))).unwrap();
                    registry.remove(&format!("Number{}", (n + thread) % 9));
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert!(registry.len() <= 5, "{}", registry.len());
    for n in 0..9 {
        registry.remove(&format!("Number{n}"));
    }
    assert!(registry.is_empty());
    assert_eq!(
        store.app.query(&numbered(4)).await.data(),
        json!({ "resolved": 4 })
    );
}
