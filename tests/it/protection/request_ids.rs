//! Each request has an identifier, by which its answer is found in the log.

use std::collections::BTreeSet;

use serde_json::json;
use svc::prelude::*;
use svc::{ProtectionConfig, RequestId};
use svc_tests::{App, Log, Reply, TestDatabase};

#[svc::query]
fn id(ctx: &Context<'_>) -> Option<String> {
    assert_eq!(ctx.request_id(), RequestId::current());
    ctx.request_id().map(|id| id.as_str().to_owned())
}

#[svc::query]
fn broken() -> Result<i32> {
    Err(Error::internal("a wheel is off"))
}

async fn app(protection: ProtectionConfig) -> App {
    let url = TestDatabase::empty().await;
    let config = SvcConfig {
        protection,
        ..SvcConfig::default()
    };
    App::serve(
        AppOptions::new()
            .config(config)
            .database_url(url)
            .queries(queries![id, broken]),
    )
    .await
}

async fn ask(app: &App, query: &str, id: Option<&str>) -> Reply {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = id
        .iter()
        .fold(request, |request, id| request.header("x-request-id", *id));
    app.send(request.body(format!(r#"{{"query":"{query}"}}"#)))
        .await
}

#[tokio::test]
async fn a_request_id_is_generated_or_accepted_and_returned() {
    let app = app(ProtectionConfig::default()).await;
    let first = ask(&app, "{ id }", None).await;
    assert_eq!(first.data()["id"], first.request_id());
    assert_eq!(first.request_id().len(), 32);
    let second = ask(&app, "{ id }", None).await;
    assert_ne!(first.request_id(), second.request_id());
    assert_eq!(second.request_id().len(), 32);
    for given in ["4bf92f3577b34da6", "a-b_c.d:e+f/g=h@i", &"x".repeat(128)] {
        let reply = ask(&app, "{ id }", Some(given)).await;
        assert_eq!(
            (reply.request_id(), &reply.data()["id"]),
            (given, &given.into())
        );
    }
    for unusable in ["", "two words", "a\"b", &"x".repeat(129), "curl;rm"] {
        let reply = ask(&app, "{ id }", Some(unusable)).await;
        assert_ne!(reply.request_id(), unusable);
        assert_eq!(reply.request_id().len(), 32, "{unusable}");
    }
    let get = app
        .send(
            app.request("GET", "/graphql?query=%7Bid%7D")
                .header("x-request-id", "mine"),
        )
        .await;
    assert_eq!(
        (get.request_id(), &get.data()["id"]),
        ("mine", &"mine".into())
    );
    let refused = app
        .send(
            app.request("POST", "/graphql")
                .header("x-request-id", "mine"),
        )
        .await;
    assert_eq!((refused.status, refused.request_id()), (415, "mine"));
}

#[tokio::test]
async fn responses_of_all_kinds_have_one_request_id() {
    let app = app(ProtectionConfig {
        batch_max: 2,
        ..ProtectionConfig::default()
    })
    .await;
    let query = json!({ "query": "{ id }" });
    let batch = app.post(&json!([query, query])).await;
    assert_eq!(batch.request_id().len(), 32);
    let id = json!({ "data": { "id": batch.request_id() } });
    assert_eq!(batch.json(), json!([id, id]));

    let mut ids = BTreeSet::from([batch.request_id().to_owned()]);
    for accept in ["text/event-stream, application/json", "text/event-stream"] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .header("accept", accept);
        let reply = app.send(request.body(query.to_string())).await;
        let id = reply.request_id();
        assert_eq!((reply.status, id.len()), (200, 32), "{accept}");
        assert!(reply.text.contains(id), "{accept} {}", reply.text);
        ids.insert(id.to_owned());
    }
    assert_eq!(ids.len(), 3, "{ids:?}");
}

#[tokio::test]
async fn the_log_line_of_an_error_has_the_request_id() {
    let log = Log::start();
    let app = app(ProtectionConfig::default()).await;
    ask(&app, "{ broken }", Some("find-me")).await;
    log.has("request_id=\"find-me\"").await;
    let line = log
        .text()
        .lines()
        .find(|line| line.contains("find-me"))
        .unwrap()
        .to_owned();
    assert!(line.contains("a wheel is off"), "{line}");
}

#[tokio::test]
async fn request_ids_can_be_switched_off() {
    let app = app(ProtectionConfig {
        request_ids: false,
        ..ProtectionConfig::default()
    })
    .await;
    let reply = ask(&app, "{ id }", Some("mine")).await;
    assert!(
        reply.data()["id"].is_null() && !reply.headers.contains_key("x-request-id"),
        "{reply:?}"
    );
}
