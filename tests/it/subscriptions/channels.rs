//! Channels that bodies listen to and publish on.

use std::time::Duration;

use serde_json::json;
use svc::events::InProcessEvents;
use svc::futures_util::{FutureExt as _, StreamExt as _};
use svc::prelude::*;
use svc::testing::{Subscription, TestService};
use svc_tests::{App, TestDatabase};
use tokio::sync::Semaphore;

use super::service::{Posts, next, until_listening};

#[svc::query]
fn hello() -> &'static str {
    "world"
}

#[svc::mutation]
async fn say(ctx: &Context<'_>, text: String) -> Result<bool> {
    ctx.publish("said", &text).await?;
    Ok(true)
}

#[svc::subscription]
async fn said(ctx: &Context<'_>) -> Result<impl Stream<Item = Result<String>> + use<>> {
    ctx.events("said").await
}

static READS: Semaphore = Semaphore::const_new(0);

#[svc::mutation]
async fn say_often(ctx: &Context<'_>, count: i32) -> Result<bool> {
    for number in 0..count {
        ctx.publish("said", &number.to_string()).await?;
    }
    Ok(true)
}

/// The payloads, each after something that takes time.
#[svc::subscription]
async fn read_slowly(ctx: &Context<'_>) -> Result<impl Stream<Item = Result<String>> + use<>> {
    let said = ctx.events("said").await?;
    Ok(said.then(|payload| async move {
        let _read = READS.acquire().await;
        payload
    }))
}

#[svc::subscription]
async fn unheard(ctx: &Context<'_>) -> Result<impl Stream<Item = Result<String>> + use<>> {
    ctx.events("unheard").await
}

fn options() -> AppOptions {
    let options = AppOptions::new()
        .queries(queries![hello])
        .mutations(mutations![say, say_often]);
    options
        .subscriptions(subscriptions![said, read_slowly, unheard])
        .event_channels(["said"])
}

/// Says something through the first, and waits until subscribers of both have heard it.
async fn talk(speaking: &TestService, listening: &TestService) {
    for service in [speaking, listening] {
        until_listening(service, "subscription { said }").await;
    }
    let mut heard = [
        speaking
            .subscribe(Subscription::new("subscription { said }"))
            .await
            .unwrap(),
        listening
            .subscribe(Subscription::new("subscription { said }"))
            .await
            .unwrap(),
    ];
    let app = App::serve_router(speaking.router()).await;
    for text in ["one", "two", "two"] {
        assert_eq!(
            app.query(&format!("mutation {{ say(text: \"{text}\") }}"))
                .await
                .data(),
            json!({"say": true})
        );
        for heard in &mut heard {
            assert_eq!(next(heard).await, json!({"data": {"said": text}}));
        }
    }
}

#[tokio::test]
async fn published_payloads_reach_subscribers_in_the_process() {
    let source = InProcessEvents::new();
    let start = || {
        options()
            .event_source(source.clone())
            .database_url("postgres://nobody@127.0.0.1:1/nothing")
    };
    let first = TestService::start(start()).await.unwrap();
    let second = TestService::start(start()).await.unwrap();
    talk(&first, &second).await;
}

/// More payloads than may wait for a client that does not read come while a body is busy with the
/// first.
#[tokio::test]
async fn a_busy_body_receives_payloads_published_meanwhile() {
    let options = options().event_source(InProcessEvents::new());
    let service = TestService::start(options.database_url("postgres://nobody@127.0.0.1:1/nothing"))
        .await
        .unwrap();
    until_listening(&service, "subscription { said }").await;
    let mut busy = service
        .subscribe(Subscription::new("subscription { read_slowly }"))
        .await
        .unwrap();
    let mut quick = service
        .subscribe(Subscription::new("subscription { said }"))
        .await
        .unwrap();
    let app = App::serve_router(service.router()).await;
    for count in [1, 150] {
        app.query(&format!("mutation {{ say_often(count: {count}) }}"))
            .await
            .data();
        for number in 0..count {
            assert_eq!(
                next(&mut quick).await,
                json!({"data": {"said": number.to_string()}})
            );
        }
        // Takes the first payload, and waits for the read.
        assert!(busy.next().now_or_never().is_none());
    }
    READS.add_permits(1);
    for number in [0..1, 0..150].into_iter().flatten() {
        assert_eq!(
            next(&mut busy).await,
            json!({"data": {"read_slowly": number.to_string()}})
        );
    }
}

#[tokio::test]
async fn published_payloads_reach_subscribers_of_other_instances() {
    let database = TestDatabase::new("").await;
    let first = TestService::start(options().database_url(database.url()))
        .await
        .unwrap();
    let second = TestService::start(options().database_url(database.url()))
        .await
        .unwrap();
    talk(&first, &second).await;
}

#[tokio::test]
async fn published_payloads_reach_subscribers_through_redis() {
    let redis = svc_tests::Redis::new().await;
    let start = || {
        // A busy machine does not make Redis an absence.
        let client = svc::RedisClient::with_timeout(&redis.url(), Duration::from_secs(30)).unwrap();
        let options = options().database_url("postgres://nobody@127.0.0.1:1/nothing");
        options.event_source(svc::events::RedisEvents::new(client))
    };
    let first = TestService::start(start()).await.unwrap();
    let second = TestService::start(start()).await.unwrap();
    talk(&first, &second).await;
}

#[tokio::test]
async fn a_payload_that_is_too_long_is_refused() {
    let database = TestDatabase::new("").await;
    let service = TestService::start(options().database_url(database.url()))
        .await
        .unwrap();
    let app = App::serve_router(service.router()).await;
    let text = "x".repeat(8_000);
    let reply = app
        .query(&format!("mutation {{ say(text: \"{text}\") }}"))
        .await;
    assert_eq!(
        reply.message(),
        "a payload of PostgreSQL has less than 8000 bytes; send an id in its place"
    );
}

#[tokio::test]
async fn a_subscription_to_an_undeclared_channel_is_an_error() {
    let options = options().event_source(InProcessEvents::new());
    let service = TestService::start(options.database_url("postgres://nobody@127.0.0.1:1/nothing"))
        .await
        .unwrap();
    let refused = service
        .subscribe(Subscription::new("subscription { unheard }"))
        .await
        .unwrap_err();
    assert_eq!(refused["errors"][0]["message"], "internal server error");
}

#[tokio::test]
async fn an_unreachable_source_refuses_subscriptions() {
    let database = Posts::database().await;
    let mut config = SvcConfig::default();
    config.events.database_url = Some("postgres://nobody@127.0.0.1:1/nothing".to_owned());
    let service = TestService::start(Posts::with(AppOptions::new().config(config), &database))
        .await
        .unwrap();
    let refused = service
        .subscribe(Subscription::new("subscription { changed { title } }"))
        .await
        .unwrap_err();
    assert_eq!(
        refused["errors"][0]["extensions"]["code"],
        "SERVICE_UNAVAILABLE"
    );
}

#[tokio::test]
async fn a_channel_without_a_usable_name_ends_the_start() {
    for name in ["", "a\0b", &"x".repeat(64)] {
        let options = options().event_channels([name]);
        let error =
            TestService::start(options.database_url("postgres://nobody@127.0.0.1:1/nothing"))
                .await
                .unwrap_err();
        assert!(
            error.to_string().contains("event_channels"),
            "{name:?}: {error}"
        );
    }
}
