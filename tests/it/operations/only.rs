//! Services that answer registered operations only.

use serde_json::json;
use svc::{Operation, SvcConfig};

use super::schema::{Store, persisted, store_with};

const NAMED: &str = "query Named { resolved(n: 7) }";

async fn only(introspection: bool) -> Store {
    let config = SvcConfig {
        operations: svc::OperationsConfig { registered_only: true, ..svc::OperationsConfig::default() },
        schema: svc::SchemaConfig { introspection: Some(introspection), ..svc::SchemaConfig::default() },
        ..SvcConfig::default()
    };
    store_with(config, |options| options.operations([Operation::new(NAMED)])).await
}

#[tokio::test]
async fn nothing_else_is_answered() {
    let store = only(false).await;
    for reply in
        [store.app.query(NAMED).await, store.by_hash(NAMED, json!({})).await, store.by_id("Named", json!({})).await]
    {
        assert_eq!(reply.data(), json!({ "resolved": 7 }));
    }
    let runs = store.runs.get();
    for text in
        ["{ resolved }", "query Named { resolved(n: 8) }", "query Named {  resolved(n: 7) }", "{ __typename }", "{"]
    {
        let reply = store.app.query(text).await;
        assert_eq!(reply.code(), "FORBIDDEN", "{text}: {}", reply.text);
        assert!(reply.message().starts_with("this service answers registered operations only"), "{}", reply.text);
        // Persisting is not a way around.
        let reply = store.app.post(&json!({ "query": text, "extensions": persisted(text) })).await;
        assert_eq!(reply.code(), "FORBIDDEN", "{text}: {}", reply.text);
        let reply = store.by_hash(text, json!({})).await;
        assert_eq!(
            (reply.code().as_str(), reply.message().as_str()),
            ("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
        );
    }
    assert_eq!(store.by_id("Other", json!({})).await.code(), "PERSISTED_QUERY_NOT_FOUND");
    assert_eq!(store.runs.get(), runs);
}

/// Tools such as GraphiQL still read the schema where introspection is on.
#[tokio::test]
async fn introspection_follows_its_own_setting() {
    let store = only(true).await;
    let data =
        store.app.query("{ __schema { queryType { name } } ...f } fragment f on Query { __typename }").await.data();
    assert_eq!(data, json!({ "__schema": { "queryType": { "name": "Query" } }, "__typename": "Query" }));
    for text in ["{ __typename resolved }", "{ ...f } fragment f on Query { resolved }", "mutation { touch }"] {
        assert_eq!(store.app.query(text).await.code(), "FORBIDDEN", "{text}");
    }
    assert_eq!(store.runs.get(), 0);
    assert_eq!(only(false).await.app.query("{ __schema { queryType { name } } }").await.code(), "FORBIDDEN");
}
