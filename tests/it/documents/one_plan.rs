//! The number of plans for documents that differ only in literals, as the metrics of the document
//! cache count them.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{MetricsConfig, create_svc_app, setup_metrics};
use svc_tests::{App, is_alone, resident};

#[svc_input]
enum Key {
    Id(i32),
    Name(String),
}

#[svc_type]
struct Node {
    id: i32,
}

#[svc_type]
impl Node {
    fn next(&self, by: i32) -> Node {
        Node { id: self.id + by }
    }
}

#[svc::query]
fn start(at: i32, text: Option<String>, ratio: Option<f64>) -> Node {
    let length = text.map_or(0, |text| i32::try_from(text.len()).unwrap_or(0));
    let whole = if ratio.is_some_and(|ratio| ratio > 1.0) {
        1
    } else {
        0
    };
    Node {
        id: at + length + whole,
    }
}

#[svc::query]
fn words(words: Vec<String>, key: Option<Key>) -> String {
    let key = key.map(|key| match key {
        Key::Id(id) => id.to_string(),
        Key::Name(name) => name,
    });
    format!("{} {key:?}", words.join(","))
}

#[svc::query]
fn stored(json: Value) -> String {
    json.to_string()
}

/// Requests in one batch.
const BATCH: usize = 100;
/// The documents that differ in literals.
const DOCUMENTS: usize = 10_000;
/// The bytes that an allocator may keep beside.
const SLACK: u64 = 8 << 20;

/// Documents, with the number of plans for all of them.
const GROUPS: [(u64, &[&str]); 13] = [
    (
        1,
        &[
            "{ words(words: [\"a\", \"b\"], key: {id: 1}) }",
            "{ words(words: [\"\", \"\\u0041\"], key: {id: 2}) }",
        ],
    ),
    // Another shape, and another kind of literal.
    (
        3,
        &[
            "{ words(words: [\"a\"], key: {id: 1}) }",
            "{ words(words: [\"a\", \"b\", \"c\"], key: {id: 1}) }",
            "{ words(words: [\"b\"], key: {name: \"x\"}) }",
            "{ words(words: [\"c\"], key: {name: \"y\"}) }",
        ],
    ),
    // Null and block strings are not lifted.
    (
        3,
        &[
            "{ start(at: 1, text: null) { id } }",
            "{ start(at: 2, text: null) { id } }",
            "{ start(at: 2, text: \"\"\"x\"\"\") { id } }",
            "{ start(at: 3, text: \"\"\"x\"\"\") { id } }",
            "{ start(at: 3, text: \"\"\"y\"\"\") { id } }",
        ],
    ),
    // Conditions, and the defaults of variables.
    (
        2,
        &[
            "query A { a: start(at: 1) { id } ... @include(if: true) { b: start(at: 2) { id } } }",
            "query A { a: start(at: 3) { id } ... @include(if: true) { b: start(at: 4) { id } } }",
            "query A { a: start(at: 5) { id } ... @include(if: false) { b: start(at: 6) { id } } }",
        ],
    ),
    (
        2,
        &[
            "query ($n: Int = 1) { start(at: 1) { next(by: $n) { id } } }",
            "query ($n: Int = 1) { start(at: 2) { next(by: $n) { id } } }",
            "query ($n: Int = 2) { start(at: 3) { next(by: $n) { id } } }",
        ],
    ),
    // Aliases of one field, each with its own literal.
    (
        1,
        &[
            "{ a: start(at: 1) { next(by: 1) { id } } b: start(at: 1) { next(by: 2) { id } } }",
            "{ a: start(at: 1) { next(by: 2) { id } } b: start(at: 3) { next(by: 2) { id } } }",
        ],
    ),
    // The arguments of merged fields are the same, so they are a part of the document.
    (
        2,
        &[
            "{ m: start(at: 1) { next(by: 1) { id } } m: start(at: 1) { id } }",
            "{ m: start(at: 1) { next(by: 2) { id } } m: start(at: 1) { id } }",
            "{ m: start(at: 2) { next(by: 3) { id } } m: start(at: 2) { id } }",
            "{ m: start(at: 2) { next(by: 4) { id } } m: start(at: 2) { id } }",
        ],
    ),
    // Fields of a fragment may be merged with those of an operation.
    (
        1,
        &[
            "{ f: start(at: 1) { ...F } } fragment F on Node { x: next(by: 1) { id } }",
            "{ f: start(at: 2) { ...F } } fragment F on Node { x: next(by: 3) { id } }",
        ],
    ),
    (
        2,
        &[
            "{ f: start(at: 1) { x: id ...F } } fragment F on Node { f: next(by: 1) { id } }",
            "{ f: start(at: 1) { x: id ...F } } fragment F on Node { f: next(by: 2) { id } }",
        ],
    ),
    // The parts of a JSON value, and the value itself.
    (2, &["{ stored(json: {a: 1}) }", "{ stored(json: {a: 2}) }"]),
    (1, &["{ stored(json: \"a\") }", "{ stored(json: \"b\") }"]),
    // A single value that becomes a list, and introspection.
    (
        2,
        &[
            "{ words(words: \"a\", key: {id: 1}) }",
            "{ words(words: \"b\", key: {id: 1}) }",
            "{ words(words: \"b\", key: {id: 2}) }",
        ],
    ),
    (
        2,
        &[
            "{ __type(name: \"Node\") { name } t: start(at: 1) { id } }",
            "{ __type(name: \"Node\") { name } t: start(at: 2) { id } }",
        ],
    ),
];

async fn app() -> App {
    app_with(svc::OperationsConfig::default()).await
}

async fn app_with(operations: svc::OperationsConfig) -> App {
    let config = SvcConfig {
        operations,
        protection: svc::ProtectionConfig {
            batch_max: BATCH,
            ..svc::ProtectionConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![start, words, stored]);
    let app = create_svc_app(options).await.unwrap();
    App::serve_router(setup_metrics(app, MetricsConfig::default()).unwrap())
        .await
        .unwatched()
}

/// The documents that were prepared, and those that were not.
async fn lookups(app: &App) -> (u64, u64) {
    let text = app.get("/metrics").await.text;
    let count = |series: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(series));
        line.map_or(0, |value| value.trim().parse::<f64>().unwrap() as u64)
    };
    (
        count(r#"svc_cache_misses_total{cache_type="document"}"#),
        count(r#"svc_cache_hits_total{cache_type="document"}"#),
    )
}

fn document(number: usize) -> String {
    let text = "x".repeat(number % 7);
    format!(
        "{{ start(at: {number}, text: \"{text}\\n{number}\", ratio: {}.5) {{ next(by: {}) {{ id }} }} }}",
        number % 3,
        number % 11
    )
}

#[tokio::test]
async fn ten_thousand_documents_that_differ_in_literals_have_one_plan() {
    const NAME: &str = "ten_thousand_documents_that_differ_in_literals_have_one_plan";
    if !is_alone(module_path!(), NAME) {
        return;
    }
    let app = app().await;
    let expected = |number: usize| {
        let length = number % 7 + 1 + number.to_string().len();
        number + length + usize::from(!number.is_multiple_of(3)) + number % 11
    };
    app.query(&document(0)).await.data();
    let (prepared, found) = lookups(&app).await;

    let mut before = 0;
    for first in (0..DOCUMENTS).step_by(BATCH) {
        let bodies: Vec<_> = (first..first + BATCH)
            .map(|number| json!({ "query": document(number) }))
            .collect();
        let replies = app.post(&json!(bodies)).await.json();
        for (reply, number) in replies.as_array().unwrap().iter().zip(first..) {
            let id = &reply["data"]["start"]["next"]["id"];
            assert_eq!(*id, json!(expected(number)), "{number}: {reply}");
        }
        if first == DOCUMENTS / 10 {
            before = resident();
        }
    }

    let gained = resident().saturating_sub(before);
    assert!(gained < SLACK, "9,000 documents have added {gained} bytes");
    let (prepared_now, found_now) = lookups(&app).await;
    assert_eq!(prepared_now, prepared);
    assert_eq!(found_now - found, DOCUMENTS as u64);
}

#[tokio::test]
async fn repeated_texts_are_bounded_by_the_size_of_the_cache() {
    const NAME: &str = "repeated_texts_are_bounded_by_the_size_of_the_cache";
    if !is_alone(module_path!(), NAME) {
        return;
    }
    let app = app_with(svc::OperationsConfig {
        document_cache_size: 1,
        ..svc::OperationsConfig::default()
    })
    .await;
    let long = "x".repeat(4_000);
    let (mut before, all) = (0, 4_000);

    for first in (0..all).step_by(BATCH) {
        let bodies: Vec<_> = (first..first + BATCH)
            .map(|at| json!({ "query": format!("{{ start(at: {at}, text: \"{long}\") {{ id }} }}") }))
            .collect();
        let body = json!(bodies).to_string();
        for _ in 0..3 {
            let request = app
                .request("POST", "/graphql")
                .header("content-type", "application/json");
            let replies = app.send(request.body(body.clone())).await.json();
            for (reply, at) in replies.as_array().unwrap().iter().zip(first..) {
                assert_eq!(reply["data"]["start"]["id"], at + long.len(), "{reply}");
            }
        }
        if first == all / 10 {
            before = resident();
        }
    }

    let gained = resident().saturating_sub(before);
    assert!(gained < SLACK, "3,500 documents have added {gained} bytes");
}

#[tokio::test]
async fn documents_share_a_plan_if_nothing_but_lifted_literals_differs() {
    const NAME: &str = "documents_share_a_plan_if_nothing_but_lifted_literals_differs";
    if !is_alone(module_path!(), NAME) {
        return;
    }
    let app = app().await;
    for (plans, documents) in GROUPS {
        let (before, _) = lookups(&app).await;
        for document in documents {
            app.query(document).await.data();
            app.query(document).await.data();
        }
        let (after, _) = lookups(&app).await;
        assert_eq!(after - before, plans, "{documents:?}");
    }
}

#[tokio::test]
async fn refused_literals_do_not_keep_others_from_sharing() {
    const NAME: &str = "refused_literals_do_not_keep_others_from_sharing";
    if !is_alone(module_path!(), NAME) {
        return;
    }
    let app = app().await;
    let document = |at: &str, text: &str| format!("{{ start(at: {at}, text: {text}) {{ id }} }}");
    // Out of range, not a string, and a character that is not decoded with the literals.
    assert_eq!(
        app.query(&document("2147483648", "\"a\"")).await.code(),
        "GRAPHQL_VALIDATION_FAILED"
    );
    app.query(&document("1", "\"\\uD83D\\uDE00\"")).await.data();

    let (before, _) = lookups(&app).await;
    for (at, text) in [("1", "a"), ("2", "b"), ("3", "c")] {
        app.query(&document(at, &format!("\"{text}\"")))
            .await
            .data();
    }
    let (after, _) = lookups(&app).await;
    assert_eq!(after - before, 1);
}
