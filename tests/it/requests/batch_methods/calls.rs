//! One call for each level of a response.

use std::sync::Arc;

use serde_json::{Value, json};
use svc::SvcConfig;
use svc_tests::{App, Events};
use tokio::sync::Barrier;

use super::{Calls, app, app_with_small_pages, options};

/// The calls of one method.
fn calls_of<const N: usize>(method: &str, objects: [usize; N]) -> Vec<(String, usize)> {
    objects
        .into_iter()
        .map(|objects| (method.to_owned(), objects))
        .collect()
}

/// Whether each item has its own label.
fn assert_labels(items: &Value, count: usize) {
    let items = items.as_array().unwrap();
    assert_eq!(items.len(), count);
    for item in items {
        assert_eq!(item["label"], format!("item {}", item["id"]));
    }
}

#[tokio::test]
async fn a_hundred_objects_are_one_call() {
    let (app, calls) = app().await;
    let data = app.query("{ items(limit: 100) { id label } }").await.data();
    assert_labels(&data["items"], 100);
    assert_eq!(calls.take(), calls_of("label", [100]));
}

#[tokio::test]
async fn the_objects_of_all_parents_are_one_call() {
    let (app, calls) = app().await;
    let data = app
        .query("{ shelves { items(limit: 10) { id label } } }")
        .await
        .data();
    let shelves = data["shelves"].as_array().unwrap();
    assert_eq!(shelves.len(), 10);
    for shelf in shelves {
        assert_labels(&shelf["items"], 10);
    }
    assert_eq!(calls.take(), calls_of("label", [100]));
}

#[tokio::test]
async fn a_level_below_a_batch_is_one_call() {
    let (app, calls) = app().await;
    let data = app
        .query("{ made(count: 4) { parts { number weight } } }")
        .await
        .data();
    let parts = |numbers: &[i32]| {
        let part = |number: &i32| json!({ "number": number, "weight": number * 100 });
        json!({ "parts": numbers.iter().map(part).collect::<Vec<_>>() })
    };
    let expected = json!([
        parts(&[0, 1]),
        parts(&[0, 1, 2]),
        parts(&[0]),
        parts(&[0, 1])
    ]);
    assert_eq!(data["made"], expected);
    let expected = [calls_of("parts", [4]), calls_of("weight", [8])].concat();
    assert_eq!(calls.take(), expected);
}

#[tokio::test]
async fn each_place_of_a_page_is_one_call() {
    let (app, calls) = app().await;
    let document = "{ pages(first: 5) { nodes { id label } edges { node { id label } } } }";
    let data = app.query(document).await.data();
    assert_labels(&data["pages"]["nodes"], 5);
    for edge in data["pages"]["edges"].as_array().unwrap() {
        assert_labels(&json!([edge["node"]]), 1);
    }
    assert_eq!(calls.take(), calls_of("label", [5, 5]));
}

/// Each call waits for the other, so one after the other they would never end.
#[tokio::test]
async fn the_calls_of_two_places_run_at_the_same_time() {
    let options = options(SvcConfig::default(), &Calls::default()).await;
    let app = App::serve(options.data(Arc::new(Barrier::new(2)))).await;
    for document in [
        "{ made(count: 2) { a: meets b: meets } }",
        "{ a: items(limit: 2) { meets } b: items(limit: 2) { meets } }",
        "{ shelves(limit: 1) { a: items(limit: 2) { meets } b: items(limit: 2) { meets } } }",
        "{ pages(first: 2) { nodes { meets } edges { node { meets } } } }",
        "{ pages(first: 2) { a: nodes { meets } b: nodes { meets } } }",
        "{ pages(first: 2) { edges { a: node { meets } b: node { meets } } } }",
    ] {
        let reply = app.query(document).await;
        assert!(
            reply.json()["errors"].is_null(),
            "{document}: {}",
            reply.text
        );
    }
}

#[tokio::test]
async fn aliases_are_separate_calls() {
    let (app, calls) = app().await;
    let document = "{ made(count: 2) { a: label b: label(suffix: \"!\") a: label ...Again } }
        fragment Again on Item { b: label(suffix: \"!\") }";
    let data = app.query(document).await.data();
    let item = |id: i32| json!({ "a": format!("item {id}"), "b": format!("item {id}!") });
    assert_eq!(data["made"], json!([item(1), item(2)]));
    let mut called = calls.take();
    called.sort_unstable();
    let expected = [calls_of("label", [2]), calls_of("label!", [2])].concat();
    assert_eq!(called, expected);
}

#[tokio::test]
async fn payloads_of_mutations_are_one_call() {
    let (app, calls) = app().await;
    for (document, count) in [
        ("mutation { items: touched { id label } }", 3),
        ("mutation { items: added(count: 5) { id label } }", 5),
    ] {
        let data = app.query(document).await.data();
        assert_labels(&data["items"], count);
        assert_eq!(calls.take(), calls_of("label", [count]), "{document}");
    }
}

#[tokio::test]
async fn each_event_is_one_call() {
    let (app, calls) = app().await;
    let events = Events::post(
        &app,
        "text/event-stream",
        "subscription { ticks { label } }",
    )
    .await;
    let text = events.whole().await;
    for id in 1..=7 {
        assert!(text.contains(&format!("item {id}")), "{text}");
    }
    assert_eq!(calls.take(), calls_of("label", [3, 4]));
}

#[tokio::test]
async fn a_call_has_at_most_as_many_objects_as_the_largest_page() {
    let (app, calls) = app_with_small_pages().await;
    let document = "{ made(count: 7) { id label parts { number } } }";
    let data = app.query(document).await.data();
    assert_labels(&data["made"], 7);
    let mut called = calls.take();
    called.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [calls_of("label", [3, 3, 1]), calls_of("parts", [3, 3, 1])].concat();
    assert_eq!(called, expected);
}

#[tokio::test]
async fn no_objects_are_no_call() {
    let (app, calls) = app().await;
    let data = app.query("{ made(count: 0) { label } }").await.data();
    assert_eq!(data, json!({ "made": [] }));
    assert!(calls.take().is_empty());
}

#[tokio::test]
async fn a_plain_function_is_a_batch_too() {
    let (app, _) = app().await;
    let data = app.query("{ made(count: 3) { twice } }").await.data();
    assert_eq!(
        data["made"],
        json!([{ "twice": 2 }, { "twice": 4 }, { "twice": 6 }])
    );
}

#[tokio::test]
async fn each_object_counts_in_the_complexity() {
    let (app, _) = app().await;
    let most = app.query("{ items(limit: 999) { dear } }").await.data();
    assert_eq!(most["items"].as_array().unwrap().len(), 100);
    let reply = app.query("{ items(limit: 1000) { dear } }").await;
    assert_eq!(reply.code(), "QUERY_TOO_COMPLEX", "{}", reply.text);
}
