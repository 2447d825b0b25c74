//! The deadline, and the effects that follow the commit.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc::authz::OperationType;
use svc::prelude::*;
use svc::testing::{Subscription, TestService};
use svc::{DatabaseConfig, ResponseCache};
use svc_tests::{App, eventually, next_answer};
use tokio::time::timeout;

use super::{add_item, database, doze, items, names, options, plainly, registered, until_idle};
use crate::mutations::until_cached;

/// The names of all items, from a cached response if there is one.
async fn kept_items(app: &App) -> Value {
    let reply = app
        .query("{ keptItems(orderBy: [{id: ASC}]) { name } }")
        .await;
    reply.data()["keptItems"].clone()
}

#[tokio::test]
async fn a_deadline_undoes_the_operation() {
    let database = database().await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            ..DatabaseConfig::default()
        },
        request_timeout: Some(Duration::from_secs(3)),
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .auto_camel_case(true)
        .queries(queries![items])
        .mutations(mutations![add_item, doze, plainly]);
    let app = App::serve(options).await;

    // A body that has begun may have had other effects.
    for (query, effects) in [
        (
            r#"mutation @atomic { a: addItem(id: 20, name: "late") b: doze c: plainly(id: 21) }"#,
            json!({"a": "NOT_DONE", "b": "NOT_DONE", "c": "NOT_DONE"}),
        ),
        (
            "mutation @atomic { a: plainly(id: 21) b: doze }",
            json!({"a": "UNKNOWN", "b": "NOT_DONE"}),
        ),
    ] {
        let reply = app.query(query).await;
        let json = reply.json();
        assert_eq!(json["data"], Value::Null, "{}", reply.text);
        let mutations = &json["extensions"]["mutations"];
        assert_eq!(*mutations, effects, "{query} {}", reply.text);
        until_idle(&database).await;
        assert_eq!(names(&database).await, ["one", "two"], "{query}");
    }
}

#[tokio::test]
async fn events_are_published_only_after_the_commit() {
    let database = database().await;
    let service = TestService::start(options(&database)).await.unwrap();
    let mut heard = eventually(async || {
        let subscribed = service.subscribe(Subscription::new("subscription { said }"));
        subscribed.await.map_err(|refused| refused.to_string())
    })
    .await;
    let app = App::serve_router(service.router()).await;
    let undone = app
        .query(r#"mutation @atomic { a: say(text: "undone") b: fail }"#)
        .await;
    assert_eq!(undone.json()["data"], json!({"a": null, "b": null}));
    let kept = app
        .query(r#"mutation @atomic { a: say(text: "first") b: plainly(id: 20) c: say(text: "second") }"#)
        .await;
    assert_eq!(kept.data(), json!({"a": true, "b": 20, "c": true}));
    for text in ["first", "second"] {
        assert_eq!(
            next_answer(&mut heard).await,
            json!({"data": {"said": text}})
        );
    }
}

#[tokio::test]
async fn a_commit_that_outlasts_its_request_is_followed_by_its_effects() {
    let database = database().await;
    database
        .execute(
            "CREATE FUNCTION doze_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                PERFORM pg_sleep(6);
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON tb_item DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION doze_at_commit()",
        )
        .await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            ..DatabaseConfig::default()
        },
        request_timeout: Some(Duration::from_secs(3)),
        ..SvcConfig::default()
    };
    let options = registered(AppOptions::new().config(config)).response_cache(ResponseCache::new());
    let service = TestService::start(options).await.unwrap();
    let mut heard = eventually(async || {
        let subscribed = service.subscribe(Subscription::new("subscription { said }"));
        subscribed.await.map_err(|refused| refused.to_string())
    })
    .await;
    let app = App::serve_router(service.router()).await;
    until_cached(&app).await;
    let reply = app
        .query(
            r#"mutation @atomic {
                a: createItem(input: {id: 20, name: "slow"}) { id }
                b: say(text: "late")
            }"#,
        )
        .await;
    assert_eq!(reply.json()["data"], Value::Null, "{}", reply.text);
    assert!(reply.text.contains("\"UNKNOWN\""), "{}", reply.text);

    // Responses from before the commit are cached until then.
    let start = Instant::now();
    let message = loop {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "no commit has been heard of"
        );
        kept_items(&app).await;
        let next = timeout(Duration::from_millis(20), heard.next());
        if let Ok(message) = next.await {
            break message;
        }
    };
    assert_eq!(message.unwrap(), json!({"data": {"said": "late"}}));
    assert_eq!(
        kept_items(&app).await,
        json!([{"name": "one"}, {"name": "two"}, {"name": "slow"}])
    );
    assert_eq!(names(&database).await, ["one", "two", "slow"]);
}

#[tokio::test]
async fn cached_responses_outlast_an_undone_operation() {
    let database = database().await;
    let app = App::serve(options(&database).response_cache(ResponseCache::new())).await;
    until_cached(&app).await;
    let before = json!([{"name": "one"}, {"name": "two"}]);
    assert_eq!(kept_items(&app).await, before);
    database
        .execute("UPDATE tb_item SET name = 'unnoticed' WHERE id = 2")
        .await;
    let write = |then: &str| {
        format!(
            r#"mutation @atomic {{ createItem(input: {{id: 10, name: "ten"}}) {{ id }} {then} }}"#
        )
    };
    app.query(&write(
        r#"createItem2: createItem(input: {id: 1, name: "again"}) { id }"#,
    ))
    .await;
    assert_eq!(kept_items(&app).await, before);
    app.query(&write("")).await.data();
    assert_eq!(
        kept_items(&app).await,
        json!([{"name": "one"}, {"name": "unnoticed"}, {"name": "ten"}])
    );
}

/// Denies every mutation, and reports that.
async fn deny(request: AuthorizationRequest) -> Result<bool> {
    if request.operation_type() != OperationType::Mutation {
        return Ok(true);
    }
    request.context().publish("said", "denied").await?;
    Ok(false)
}

#[tokio::test]
async fn an_event_of_an_authorizer_is_published_although_it_denies_the_operation() {
    let database = database().await;
    let options = options(&database).authorizer(deny);
    let service = TestService::start(options).await.unwrap();
    let mut heard = eventually(async || {
        let subscribed = service.subscribe(Subscription::new("subscription { said }"));
        subscribed.await.map_err(|refused| refused.to_string())
    })
    .await;
    let app = App::serve_router(service.router()).await;
    let reply = app.query("mutation @atomic { plainly(id: 20) }").await;
    assert_eq!(reply.code(), "FORBIDDEN", "{}", reply.text);
    assert_eq!(
        next_answer(&mut heard).await,
        json!({"data": {"said": "denied"}})
    );
}
