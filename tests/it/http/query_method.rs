//! The method `QUERY` (RFC 10008): a query in the body of a safe request.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use svc::futures_util::stream;
use svc::prelude::*;
use svc::{ProtectionConfig, Transport};
use svc_tests::{App, Reply};

/// The times that the mutation has run.
#[derive(Default)]
struct Bumps(AtomicU32);

#[svc::query]
fn hello(#[svc(default = "world")] name: String) -> String {
    format!("hello {name}")
}

#[svc::query]
fn transport(ctx: &Context<'_>) -> String {
    format!("{:?}", ctx.transport())
}

#[svc::query]
fn bumps(ctx: &Context<'_>) -> Result<u32> {
    Ok(ctx.data::<Bumps>()?.0.load(Ordering::SeqCst))
}

#[svc::mutation]
fn bump(ctx: &Context<'_>) -> Result<u32> {
    Ok(ctx.data::<Bumps>()?.0.fetch_add(1, Ordering::SeqCst))
}

#[svc::subscription]
fn ticks() -> impl Stream<Item = i32> {
    stream::iter(1..=3)
}

async fn app() -> App {
    let protection = ProtectionConfig {
        batch_max: 2,
        ..ProtectionConfig::default()
    };
    let config = SvcConfig {
        protection,
        ..SvcConfig::default()
    };
    App::serve(
        AppOptions::new()
            .config(config)
            .database_url("postgres://nobody@127.0.0.1:1/nothing")
            .data(Bumps::default())
            .queries(queries![hello, transport, bumps])
            .mutations(mutations![bump])
            .subscriptions(subscriptions![ticks]),
    )
    .await
}

/// Sends a JSON body with QUERY, with these headers.
async fn query(app: &App, body: &Value, headers: &[(&str, &str)]) -> Reply {
    let request = app.request("QUERY", "/graphql");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    app.send(request.body(body.to_string())).await
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn queries_run_as_they_do_by_post() {
    let app = app().await;
    let body = json!({
        "query": "query A { hello } query B($name: String!) { hello(name: $name) transport }",
        "operationName": "B",
        "variables": { "name": "Ada" },
    });
    let reply = query(&app, &body, &[JSON]).await;
    let shown = format!("{:?}", Transport::HttpQuery);
    assert_eq!(
        reply.data(),
        json!({ "hello": "hello Ada", "transport": shown })
    );
    // Nothing says which methods there are where none is refused.
    for name in ["allow", "accept-query"] {
        assert!(!reply.headers.contains_key(name), "{name}");
    }
    assert_eq!(reply.headers["cache-control"], "private, no-store");
    assert_eq!(reply.request_id().len(), 32);
}

#[tokio::test]
async fn mutations_do_not_run() {
    let app = app().await;
    let mutation = json!({ "query": "mutation { bump }" });
    let reply = query(&app, &mutation, &[JSON]).await;
    assert_eq!(
        (reply.status, reply.message().as_str()),
        (
            422,
            "a mutation cannot be sent with GET or QUERY; send it with POST"
        )
    );

    // As a stream, in a batch, and as one of several operations.
    let events = [JSON, ("accept", "text/event-stream")];
    assert_eq!(query(&app, &mutation, &events).await.status, 422);
    let batch = query(&app, &json!([mutation, { "query": "{ hello }" }]), &[JSON]).await;
    assert_eq!(
        batch.json()[0]["errors"][0]["extensions"]["code"],
        "BAD_REQUEST"
    );
    assert_eq!(batch.json()[1]["data"]["hello"], "hello world");
    assert_eq!(batch.request_id().len(), 32);
    let two = json!({ "query": "query A { hello } mutation B { bump }", "operationName": "B" });
    assert_eq!(query(&app, &two, &[JSON]).await.status, 422);
    assert_eq!(app.query("{ bumps }").await.data()["bumps"], 0);
}

#[tokio::test]
async fn other_media_types_are_refused_with_the_accepted_one() {
    let app = app().await;
    let body = json!({ "query": "{ hello }" });
    for media in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some("application/graphql"),
    ] {
        let headers = media.map(|media| ("content-type", media));
        let reply = query(&app, &body, headers.as_slice()).await;
        assert_eq!(reply.status, 415, "{media:?}: {}", reply.text);
        assert_eq!(
            reply.headers["accept-query"], "application/json",
            "{media:?}"
        );
    }
    let other = app.send(app.request("PUT", "/graphql")).await;
    assert_eq!(
        (
            other.status,
            other.headers["accept-query"].to_str().unwrap()
        ),
        (405, "application/json")
    );
}

#[tokio::test]
async fn a_subscription_is_a_stream() {
    let app = app().await;
    let ticks = json!({ "query": "subscription { ticks }" });
    let events = [JSON, ("accept", "text/event-stream")];
    let reply = query(&app, &ticks, &events).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert!(
        reply.text.contains(r#"{"data":{"ticks":3}}"#),
        "{}",
        reply.text
    );
    assert_eq!(query(&app, &ticks, &[JSON]).await.code(), "BAD_REQUEST");
    let either = [JSON, ("accept", "text/event-stream, application/json")];
    let single = query(&app, &json!({ "query": "{ transport }" }), &either).await;
    assert_eq!(single.data()["transport"], "HttpQuery");
    assert_eq!(single.request_id().len(), 32);
}

#[tokio::test]
async fn the_endpoint_without_code_is_for_post_only() {
    let mut config = SvcConfig::default();
    config.operations.rust_endpoint = true;
    let app = App::serve(
        AppOptions::new()
            .config(config)
            .database_url("postgres://nobody@127.0.0.1:1/nothing")
            .queries(queries![hello]),
    )
    .await;
    let reply = app.send(app.request("QUERY", "/graphql/rust")).await;
    assert_eq!(
        (reply.status, reply.headers["allow"].to_str().unwrap()),
        (405, "POST")
    );
}
