//! Responses that are cached, and responses that are not.

use std::time::{Duration, Instant};

use serde_json::json;
use svc::Operation;
use svc::prelude::*;
use svc_tests::{App, Events, Log, Socket, eventually};

use super::service::{database, options, serve, uncached_options};

/// The number that a document gives, each time that it runs another one.
async fn number(app: &App, document: &str) -> i64 {
    let data = app.query(document).await.data();
    let numbers: Vec<_> = data
        .as_object()
        .unwrap()
        .values()
        .filter_map(serde_json::Value::as_i64)
        .collect();
    numbers[0]
}

#[tokio::test]
async fn a_cached_response_runs_no_statement() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let document = "{ posts { id title author { name } } }";
    let first = app.query(document).await;
    let before = database.statements("v_kept_post").await;
    for _ in 0..5 {
        assert_eq!(app.query(document).await.text, first.text);
    }
    assert_eq!(
        app.query("query # other spaces\n{ posts { id, title, author { name } } }")
            .await
            .text,
        first.text
    );
    assert_eq!(
        app.get("/graphql?query=%7Bposts%7Bid%20title%20author%7Bname%7D%7D%7D")
            .await
            .text,
        first.text
    );
    assert_eq!(database.statements("v_kept_post").await, before);
}

#[tokio::test]
async fn sockets_and_streams_share_the_cache() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let kept = app.query("{ tick }").await.json();
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "{ tick }").await;
    assert_eq!(socket.next().await["payload"], kept);
    let mut events = Events::post(&app, "text/event-stream", "{ tick }").await;
    let text = events.until("\n\nevent: complete").await;
    assert!(text.contains(&kept.to_string()), "{text}");
}

#[tokio::test]
async fn every_input_of_a_response_is_in_the_key() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let two = "query A { tick } query B { other: tick }";
    let with = "query ($text: String) { tick(text: $text) }";
    let mut answers = vec![
        app.query("{ tick }").await.text,
        app.query("{ again: tick }").await.text,
        app.query(r#"{ tick(text: "a") }"#).await.text,
        app.post(&json!({ "query": two, "operationName": "A" }))
            .await
            .text,
        app.post(&json!({ "query": two, "operationName": "B" }))
            .await
            .text,
        app.query_with(with, json!({})).await.text,
        app.query_with(with, json!({ "text": null })).await.text,
        app.query_with(with, json!({ "text": "" })).await.text,
        app.query_with(with, json!({ "text": "a" })).await.text,
        app.query_with(
            "query ($yes: Boolean!) { tick @include(if: $yes) }",
            json!({ "yes": true }),
        )
        .await
        .text,
        app.query_with(
            "query ($yes: Boolean!) { tick @include(if: $yes) }",
            json!({ "yes": false }),
        )
        .await
        .text,
    ];
    let all = answers.len();
    answers.sort();
    answers.dedup();
    assert_eq!(answers.len(), all, "{answers:?}");
    // A variable that is not declared changes nothing.
    let kept = app.query_with(with, json!({ "text": "a" })).await.text;
    assert_eq!(
        app.query_with(with, json!({ "text": "a", "more": 1 }))
            .await
            .text,
        kept
    );
}

/// Asks until an answer that is kept for a second is another one; whether the first one was seen
/// again. `None` where that could not be, as the second question was late.
async fn is_seen_again(app: &App, document: &str) -> Option<bool> {
    let began = Instant::now();
    let first = number(app, document).await;
    let answered = Instant::now();
    let (mut seen_again, mut second) = (false, None);
    eventually(async || {
        let asked = answered.elapsed();
        let again = number(app, document).await;
        second = second.or(Some(began.elapsed()));
        if again != first {
            return Ok(());
        }
        seen_again = true;
        // What was asked for a second after the first answer is not it.
        assert!(asked < Duration::from_secs(3), "{document}: {asked:?}");
        Err("still kept".to_owned())
    })
    .await;
    let is_late = second.is_some_and(|second| second >= Duration::from_secs(1));
    (seen_again || !is_late).then_some(seen_again)
}

#[tokio::test]
async fn a_response_is_cached_for_its_ttl_and_no_longer() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for document in ["{ brief }", "{ brief tick }", "{ tick brief __typename }"] {
        let mut tries = 0..10;
        let seen_again = loop {
            tries.next().expect("each second question was late");
            if let Some(seen_again) = is_seen_again(&app, document).await {
                break seen_again;
            }
        };
        assert!(seen_again, "{document}");
    }
}

#[tokio::test]
async fn errors_are_not_cached() {
    let database = database().await;
    // The first tick fails, as `ready` takes an even number of them or not.
    let app = serve(options(&database)).await;
    let (mut failed, mut answers) = (0, Vec::new());
    for _ in 0..6 {
        let reply = app.query("{ flaky }").await.json();
        match reply.get("errors") {
            Some(_) => failed += 1,
            None => answers.push(reply["data"]["flaky"].clone()),
        }
    }
    assert!(failed <= 1 && answers.len() >= 5, "{failed} {answers:?}");
    answers.dedup();
    assert_eq!(answers.len(), 1);
}

#[tokio::test]
async fn only_operations_of_cached_queries_are_cached() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for document in [
        "{ tick uncached { id } }",
        "{ tick __schema { description } }",
    ] {
        assert_ne!(
            number(&app, document).await,
            number(&app, document).await,
            "{document}"
        );
    }
    let document = "{ __typename tick }";
    assert_eq!(number(&app, document).await, number(&app, document).await);
}

#[tokio::test]
async fn nothing_is_cached_unless_the_cache_is_enabled() {
    let database = database().await;
    let log = Log::start();
    let app = App::serve(uncached_options(&database)).await;
    assert_ne!(
        number(&app, "{ tick }").await,
        number(&app, "{ tick }").await
    );
    assert_ne!(
        app.get("/graphql?query=%7Btick%7D").await.headers["cache-control"],
        "public, no-cache"
    );
    log.has("SVC_RESPONSE_CACHE=true").await;
    let off = SvcConfig::from_variables(|name| {
        (name == "SVC_RESPONSE_CACHE").then(|| "false".to_owned())
    })
    .unwrap();
    let database_url = database.url();
    let app = App::serve(options(&database).config(off).database_url(database_url)).await;
    assert_ne!(
        number(&app, "{ tick }").await,
        number(&app, "{ tick }").await
    );
}

#[tokio::test]
async fn the_setting_alone_enables_the_cache() {
    let database = database().await;
    let on =
        SvcConfig::from_variables(|name| (name == "SVC_RESPONSE_CACHE").then(|| "true".to_owned()))
            .unwrap();
    let app = serve(
        uncached_options(&database)
            .config(on)
            .database_url(database.url()),
    )
    .await;
    assert_eq!(
        number(&app, "{ tick }").await,
        number(&app, "{ tick }").await
    );
}

#[tokio::test]
async fn the_sql_of_a_registered_operation_is_cached() {
    let database = database().await;
    let operation = Operation::new("query Named { headlines { id title } }")
        .sql("SELECT json_agg(json_build_object('id', id, 'title', title)) AS headlines FROM v_kept_post /* own */");
    let app = serve(options(&database).operations([operation])).await;
    let first = app.post(&json!({ "documentId": "Named" })).await;
    assert_eq!(
        first.data()["headlines"][0],
        json!({ "id": 1, "title": "one" })
    );
    let before = database.statements("/* own */").await;
    assert_eq!(
        app.post(&json!({ "documentId": "Named" })).await.text,
        first.text
    );
    assert_eq!(database.statements("/* own */").await, before);
    app.query(r#"mutation { rename(id: 1, title: "new") }"#)
        .await
        .data();
    assert_eq!(
        app.post(&json!({ "documentId": "Named" })).await.data()["headlines"]
            .to_string()
            .matches("new")
            .count(),
        1
    );
}
