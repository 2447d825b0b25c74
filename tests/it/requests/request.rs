//! The context of a request, as resolvers read it.

use serde_json::json;
use svc::axum::Extension;
use svc::prelude::*;
use svc::{Transport, create_svc_app};
use svc_tests::App;

#[derive(Clone)]
struct TraceId(&'static str);

#[svc::query]
fn trace_id(ctx: &Context<'_>) -> Option<String> {
    ctx.extension::<TraceId>().map(|id| id.0.to_owned())
}

#[svc::query]
fn is_loopback(ctx: &Context<'_>) -> Option<bool> {
    ctx.peer_addr().map(|address| address.ip().is_loopback())
}

#[svc::query]
fn transport(ctx: &Context<'_>) -> String {
    format!("{:?}", ctx.transport())
}

#[svc::query]
fn seconds_left(ctx: &Context<'_>) -> Option<i32> {
    ctx.time_left()
        .and_then(|left| left.as_secs().try_into().ok())
}

fn options() -> AppOptions {
    AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![trace_id, is_loopback, transport, seconds_left])
}

#[tokio::test]
async fn values_of_layers_reach_resolvers() {
    let router = create_svc_app(options())
        .await
        .unwrap()
        .layer(Extension(TraceId("4bf92f35")));
    let app = App::serve_router(router).await;
    assert_eq!(
        app.query("{ trace_id }").await.data(),
        json!({"trace_id": "4bf92f35"})
    );
    assert_eq!(
        app.get("/graphql?query={trace_id}").await.data(),
        json!({"trace_id": "4bf92f35"})
    );
    let without = App::serve(options()).await;
    assert_eq!(
        without.query("{ trace_id }").await.data(),
        json!({"trace_id": null})
    );
}

#[tokio::test]
async fn the_peer_and_the_transport_are_known() {
    let app = App::serve(options()).await;
    let post = app.query("{ is_loopback transport }").await.data();
    assert_eq!(
        post,
        json!({"is_loopback": true, "transport": format!("{:?}", Transport::HttpPost)})
    );
    let get = app
        .get("/graphql?query={is_loopback,transport}")
        .await
        .data();
    assert_eq!(
        get,
        json!({"is_loopback": true, "transport": format!("{:?}", Transport::HttpGet)})
    );
}

#[tokio::test]
async fn the_time_that_is_left_is_known() {
    let app = App::serve(options()).await;
    let left = app.query("{ seconds_left }").await.data()["seconds_left"]
        .as_i64()
        .unwrap();
    assert!((58..=61).contains(&left), "{left}");
    let app = App::serve(options().request_timeout(None)).await;
    assert_eq!(
        app.query("{ seconds_left }").await.data(),
        json!({"seconds_left": null})
    );
}

/// There is no transport for them yet, and none is mistaken for a query.
#[tokio::test]
async fn subscriptions_are_refused_clearly() {
    let app = App::serve(options()).await;
    let reply = app.query("subscription { trace_id }").await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED");
    assert!(reply.message().contains("subscription"), "{}", reply.text);
}
