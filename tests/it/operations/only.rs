//! Services that answer registered operations only.

use serde_json::json;
use sha2::{Digest as _, Sha256};
use svc::{Operation, SvcConfig};
use svc_tests::Log;

use super::schema::{Store, persisted, store_with};

const NAMED: &str = "query Named { resolved(n: 7) }";

async fn only(introspection: bool) -> Store {
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            registered_only: true,
            ..svc::OperationsConfig::default()
        },
        schema: svc::SchemaConfig {
            introspection: Some(introspection),
            ..svc::SchemaConfig::default()
        },
        ..SvcConfig::default()
    };
    store_with(config, |options| {
        options.operations([Operation::new(NAMED)])
    })
    .await
}

#[tokio::test]
async fn unregistered_documents_are_refused() {
    let store = only(false).await;
    for reply in [
        store.app.query(NAMED).await,
        store.by_hash(NAMED, json!({})).await,
        store.by_id("Named", json!({})).await,
    ] {
        assert_eq!(reply.data(), json!({ "resolved": 7 }));
    }
    let runs = store.runs.get();
    for text in [
        "{ resolved }",
        "query Named { resolved(n: 8) }",
        "query Named {  resolved(n: 7) }",
        "{ __typename }",
        "{",
    ] {
        let reply = store.app.query(text).await;
        assert_eq!(reply.code(), "FORBIDDEN", "{text}: {}", reply.text);
        assert!(
            reply
                .message()
                .starts_with("this service answers registered operations only"),
            "{}",
            reply.text
        );
        // Persisting is not a way around.
        let reply = store
            .app
            .post(&json!({ "query": text, "extensions": persisted(text) }))
            .await;
        assert_eq!(reply.code(), "FORBIDDEN", "{text}: {}", reply.text);
        let reply = store.by_hash(text, json!({})).await;
        assert_eq!(
            (reply.code().as_str(), reply.message().as_str()),
            ("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
        );
    }
    assert_eq!(
        store.by_id("Other", json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    assert_eq!(store.runs.get(), runs);
}

/// Tools such as GraphiQL still read the schema where introspection is on.
#[tokio::test]
async fn introspection_follows_its_own_setting() {
    let store = only(true).await;
    let data = store
        .app
        .query("{ __schema { queryType { name } } ...f } fragment f on Query { __typename }")
        .await
        .data();
    assert_eq!(
        data,
        json!({ "__schema": { "queryType": { "name": "Query" } }, "__typename": "Query" })
    );
    for text in [
        "{ __typename resolved }",
        "{ ...f } fragment f on Query { resolved }",
        "mutation { touch }",
    ] {
        assert_eq!(store.app.query(text).await.code(), "FORBIDDEN", "{text}");
    }
    assert_eq!(store.runs.get(), 0);
    assert_eq!(
        only(false)
            .await
            .app
            .query("{ __schema { queryType { name } } }")
            .await
            .code(),
        "FORBIDDEN"
    );
}

/// Before it is in force, the log says what would be refused, and nothing is.
#[tokio::test]
async fn warn_mode_logs_unregistered_documents() {
    let log = Log::start();
    let variables = [
        ("SVC_REGISTERED_ONLY", "true"),
        ("SVC_REGISTERED_ONLY_MODE", "warn"),
    ];
    let get = |name: &str| {
        variables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    let config = SvcConfig::from_variables(get).unwrap();
    let store = store_with(config, |options| {
        options.operations([Operation::new(NAMED)])
    })
    .await;
    assert_eq!(
        store.app.query(NAMED).await.data(),
        json!({ "resolved": 7 })
    );
    store
        .app
        .query("{ __schema { queryType { name } } }")
        .await
        .data();
    assert!(
        !log.text().contains("registered_only_tried"),
        "{}",
        log.text()
    );
    let secret = r#"query Other { resolved(n: 8) secret: __typename @include(if: true) } # "not for the log""#;
    assert_eq!(store.app.query(secret).await.data()["resolved"], 8);
    log.has("query.registered_only_tried").await;
    log.has("\"operation_name\":\"Other\"").await;
    let hash = hex::encode(Sha256::digest(secret));
    assert!(
        log.text().contains(&hash) && !log.text().contains("not for the log"),
        "{}",
        log.text()
    );
    // Persisting by sending works as it does without.
    let text = "{ resolved(n: 9) }";
    store
        .app
        .post(&json!({ "query": text, "extensions": persisted(text) }))
        .await
        .data();
    assert_eq!(
        store.by_hash(text, json!({})).await.data(),
        json!({ "resolved": 9 })
    );
}
