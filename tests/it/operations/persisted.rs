//! Automatic persisted queries.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::prelude::*;
use svc_tests::{App, Reply, cluster};

#[svc::query]
fn double(n: i32) -> i32 {
    n * 2
}

#[svc::mutation]
fn touch() -> bool {
    true
}

async fn app(persisted_queries: bool) -> App {
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            persisted_queries,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    App::serve(
        AppOptions::new()
            .config(config)
            .database_url(cluster().url())
            .queries(queries![double])
            .mutations(mutations![touch]),
    )
    .await
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

fn extensions(hash: &str) -> Value {
    json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } })
}

async fn post(app: &App, body: Value) -> Reply {
    app.post(&body).await
}

const DOUBLE: &str = "query Twice($n: Int!) { double(n: $n) }";

#[tokio::test]
async fn a_document_sent_once_is_found_by_its_hash() {
    let app = app(true).await;
    let by_hash = json!({ "extensions": extensions(&hash(DOUBLE)), "variables": { "n": 21 } });
    let reply = post(&app, by_hash.clone()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(
        (reply.code().as_str(), reply.message().as_str()),
        ("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
    );

    let whole = json!({ "query": DOUBLE, "extensions": extensions(&hash(DOUBLE)), "variables": { "n": 1 } });
    assert_eq!(post(&app, whole).await.data(), json!({ "double": 2 }));
    assert_eq!(post(&app, by_hash).await.data(), json!({ "double": 42 }));
    let upper = json!({ "query": "", "extensions": extensions(&hash(DOUBLE).to_uppercase()), "variables": { "n": 3 }, "operationName": "Twice" });
    assert_eq!(post(&app, upper).await.data(), json!({ "double": 6 }));

    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("extensions", &extensions(&hash(DOUBLE)).to_string())
        .append_pair("variables", r#"{"n": 4}"#)
        .finish();
    assert_eq!(
        app.get(&format!("/graphql?{query}")).await.data(),
        json!({ "double": 8 })
    );
}

#[tokio::test]
async fn a_hash_changes_no_rule() {
    let app = app(true).await;
    let touch = "mutation { touch }";
    post(
        &app,
        json!({ "query": touch, "extensions": extensions(&hash(touch)) }),
    )
    .await
    .data();
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("extensions", &extensions(&hash(touch)).to_string())
        .finish();
    assert_eq!(app.get(&format!("/graphql?{query}")).await.status, 405);

    // What is not valid is not kept.
    let broken = "{ nothing }";
    let reply = post(
        &app,
        json!({ "query": broken, "extensions": extensions(&hash(broken)) }),
    )
    .await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED");
    let reply = post(&app, json!({ "extensions": extensions(&hash(broken)) })).await;
    assert_eq!(reply.code(), "PERSISTED_QUERY_NOT_FOUND");

    // Nobody gives another's hash a meaning of their own.
    let reply = post(
        &app,
        json!({ "query": touch, "extensions": extensions(&hash(DOUBLE)) }),
    )
    .await;
    assert_eq!(reply.code(), "BAD_REQUEST");
    assert!(
        reply.message().contains("is not the SHA-256 of `query`"),
        "{}",
        reply.text
    );
    let reply = post(
        &app,
        json!({ "extensions": extensions(&hash(DOUBLE)), "variables": { "n": 1 } }),
    )
    .await;
    assert_eq!(reply.code(), "PERSISTED_QUERY_NOT_FOUND");
}

#[tokio::test]
async fn malformed_hashes_are_refused() {
    let app = app(true).await;
    for (persisted, part) in [
        (json!([]), "must be an object"),
        (json!("abc"), "must be an object"),
        (json!({}), "version` must be 1"),
        (
            json!({ "version": 2, "sha256Hash": hash(DOUBLE) }),
            "version` must be 1",
        ),
        (json!({ "version": 1 }), "64 hexadecimal digits"),
        (
            json!({ "version": 1, "sha256Hash": 7 }),
            "64 hexadecimal digits",
        ),
        (
            json!({ "version": 1, "sha256Hash": "zz" }),
            "64 hexadecimal digits",
        ),
        (
            json!({ "version": 1, "sha256Hash": format!("{}00", hash(DOUBLE)) }),
            "64 hexadecimal digits",
        ),
    ] {
        let reply = post(
            &app,
            json!({ "query": DOUBLE, "extensions": { "persistedQuery": persisted } }),
        )
        .await;
        assert_eq!(reply.status, 400, "{persisted}");
        assert!(
            reply.message().contains(part),
            "{persisted}: {}",
            reply.text
        );
    }
    let none = json!({ "query": "{ double(n: 2) }", "extensions": { "persistedQuery": null } });
    assert_eq!(post(&app, none).await.data(), json!({ "double": 4 }));
}

#[tokio::test]
async fn persisted_queries_can_be_switched_off() {
    let app = app(false).await;
    for query in [json!(null), json!(DOUBLE)] {
        let reply =
            post(&app, json!({ "query": query, "extensions": extensions(&hash(DOUBLE)), "variables": { "n": 1 } }))
                .await;
        assert_eq!(reply.code(), "PERSISTED_QUERY_NOT_SUPPORTED");
        assert_eq!(reply.message(), "PersistedQueryNotSupported");
    }
}
