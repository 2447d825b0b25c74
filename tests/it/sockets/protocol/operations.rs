//! Operations and their results.

use serde_json::json;
use svc_tests::Socket;

use super::super::service::serve;
use super::{complete, next};

#[tokio::test]
async fn a_query_has_one_result_and_completes() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "{ hello }").await;
    assert_eq!(
        socket.next().await,
        next("1", &json!({ "hello": "hello, world" }))
    );
    assert_eq!(socket.next().await, complete("1"));
}

#[tokio::test]
async fn a_mutation_and_variables_work_too() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("m", "mutation { bump }").await;
    assert_eq!(socket.next().await, next("m", &json!({ "bump": 2 })));
    assert_eq!(socket.next().await, complete("m"));
    let payload = json!({
        "query": "query A { hello } query B($name: String) { hello(name: $name) }",
        "operationName": "B", "variables": { "name": "Ada" }, "extensions": null,
    });
    socket
        .send(&json!({ "id": "q", "type": "subscribe", "payload": payload }))
        .await;
    assert_eq!(
        socket.next().await,
        next("q", &json!({ "hello": "hello, Ada" }))
    );
}

#[tokio::test]
async fn a_subscription_has_a_result_for_each_event_and_completes() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket
        .subscribe("ü\"1", "subscription { ticks(count: 2) }")
        .await;
    assert_eq!(socket.next().await, next("ü\"1", &json!({ "ticks": 1 })));
    assert_eq!(socket.next().await, next("ü\"1", &json!({ "ticks": 2 })));
    assert_eq!(socket.next().await, complete("ü\"1"));
    watched.until_streams(0).await;
}

#[tokio::test]
async fn operations_interleave_and_an_identifier_is_free_again() {
    let (app, watched) = serve().await;
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("a", "subscription { forever }").await;
    assert_eq!(socket.next().await, next("a", &json!({ "forever": 1 })));
    for _ in 0..3 {
        socket.subscribe("b", "{ hello }").await;
        assert_eq!(
            socket.next().await,
            next("b", &json!({ "hello": "hello, world" }))
        );
        assert_eq!(socket.next().await, complete("b"));
    }
    socket.send(&complete("a")).await;
    socket.subscribe("a", "{ hello }").await;
    assert_eq!(
        socket.next().await,
        next("a", &json!({ "hello": "hello, world" }))
    );
    watched.until_streams(0).await;
}

#[tokio::test]
async fn the_subscription_that_is_named_runs_with_its_variables() {
    let (app, _) = serve().await;
    let mut socket = Socket::ready(&app).await;
    let query = "subscription Other { forever } subscription Watch($n: Int!) { ticks(count: $n) }";
    let payload = json!({ "query": query, "operationName": "Watch", "variables": { "n": 1 } });
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": payload }))
        .await;
    assert_eq!(socket.next().await, next("1", &json!({ "ticks": 1 })));
    assert_eq!(socket.next().await, complete("1"));
    let unnamed = json!({ "query": query, "variables": { "n": 1 } });
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": unnamed }))
        .await;
    assert_eq!(
        socket.next().await["payload"][0]["extensions"]["code"],
        "OPERATION_RESOLUTION_FAILURE"
    );
}

#[tokio::test]
async fn persisted_documents_work() {
    let (app, _) = serve().await;
    let hash = hex::encode(<sha2::Sha256 as sha2::Digest>::digest("{ hello }"));
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    let mut socket = Socket::ready(&app).await;
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": { "extensions": extensions } }))
        .await;
    assert_eq!(
        socket.next().await["payload"][0]["extensions"]["code"],
        "PERSISTED_QUERY_NOT_FOUND"
    );
    let payload = json!({ "query": "{ hello }", "extensions": extensions });
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": payload }))
        .await;
    assert_eq!(socket.next().await["type"], "next");
    assert_eq!(socket.next().await, complete("1"));
    socket
        .send(&json!({ "id": "1", "type": "subscribe", "payload": { "extensions": extensions } }))
        .await;
    assert_eq!(
        socket.next().await,
        next("1", &json!({ "hello": "hello, world" }))
    );
}
