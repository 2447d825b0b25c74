//! Answers tell caches that they are for who asked.

use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase};

#[svc::query]
fn hello() -> &'static str {
    "world"
}

async fn app() -> App {
    let url = TestDatabase::empty().await;
    App::serve(AppOptions::new().database_url(url).queries(queries![hello])).await
}

fn header<'a>(reply: &'a Reply, name: &str) -> &'a str {
    let mut values = reply.headers.get_all(name).iter();
    let value = values.next().map_or("", |value| value.to_str().unwrap());
    assert!(values.next().is_none(), "{name} is there twice");
    value
}

#[tokio::test]
async fn responses_are_private_and_not_stored() {
    let app = app().await;
    let hash = "8c5ee08bfbbcfb6d80cc7f2e1a8e0b0a2ff2a3a0c0a1f0a1f4a6d9a2d7e4c111";
    let by_hash = format!(
        "/graphql?extensions=%7B%22persistedQuery%22:%7B%22version%22:1,%22sha256Hash%22:%22{hash}%22%7D%7D"
    );
    let html = app.request("GET", "/graphql").header("accept", "text/html");
    let image = app
        .request("GET", "/graphql?query=%7Bhello%7D")
        .header("accept", "image/png");
    let large = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .body(" ".repeat(1_000_001));
    let replies = [
        (200, app.query("{ hello }").await),
        (200, app.query("{ nope }").await),
        (200, app.get("/graphql?query=%7Bhello%7D").await),
        (200, app.get(&by_hash).await),
        (200, app.send(html).await),
        (400, app.get("/graphql").await),
        (405, app.send(app.request("PUT", "/graphql")).await),
        (406, app.send(image).await),
        (413, app.send(large).await),
        (
            415,
            app.send(app.request("POST", "/graphql").body("{}")).await,
        ),
    ];
    for (status, reply) in &replies {
        assert_eq!(reply.status, *status, "{}", reply.text);
        assert_eq!(
            header(reply, "cache-control"),
            "private, no-store",
            "{status}: {}",
            reply.text
        );
        assert_eq!(
            header(reply, "vary"),
            "Accept, Authorization, Cookie",
            "{status}: {}",
            reply.text
        );
    }
}

#[tokio::test]
async fn probe_responses_are_not_stored() {
    let app = app().await;
    for path in ["/health", "/ready"] {
        assert_eq!(
            header(&app.get(path).await, "cache-control"),
            "no-store",
            "{path}"
        );
    }
}

#[tokio::test]
async fn graphiql_assets_do_not_vary_between_users() {
    let reply = app().await.get("/graphql/assets/graphiql.css").await;
    assert_eq!(
        (header(&reply, "cache-control"), header(&reply, "vary")),
        ("no-cache", "")
    );
}
