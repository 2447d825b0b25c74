//! Documents that share a plan with documents of other literals are answered as if alone.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::prelude::*;
use svc::{Limits, ResponseCache};
use svc_tests::{App, Socket, TestDatabase};

#[svc_type(sql_source = "v_literal_person")]
struct Person {
    id: i32,
    name: String,
    score: f64,
    #[relation(to = "author_id")]
    notes: Many<Note>,
}

#[svc_type(sql_source = "v_literal_note")]
struct Note {
    id: i32,
    title: String,
    author_id: i32,
}

#[svc_enum]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Color {
    Red,
    Green,
}

#[svc_input]
enum Key {
    Id(i32),
    Name(String),
}

#[svc_input]
struct Range {
    least: i32,
    #[svc(default = 3)]
    most: i32,
    words: Option<Vec<String>>,
    key: Option<Key>,
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

    fn fail(&self, at: i32) -> Result<Option<i32>> {
        Err(Error::new(
            ErrorCode::NotFound,
            format!("{} has no {at}", self.id),
        ))
    }
}

#[svc::query]
fn start(#[svc(range(0..=100))] at: i32) -> Node {
    Node { id: at }
}

#[svc::query]
fn ids(ids: Vec<ID>, grid: Option<Vec<Vec<Option<i32>>>>) -> String {
    format!("{ids:?} {grid:?}")
}

#[svc::query]
fn scalars(
    text: Option<String>,
    number: Option<i32>,
    ratio: Option<f64>,
    big: Option<i64>,
    uuid: Option<Uuid>,
    color: Option<Color>,
) -> String {
    format!("{text:?} {number:?} {ratio:?} {big:?} {uuid:?} {color:?}")
}

#[svc::query]
fn inputs(range: Option<Range>, key: Option<Key>) -> String {
    let key_text = |key: Key| match key {
        Key::Id(id) => format!("id {id}"),
        Key::Name(name) => format!("name {name}"),
    };
    let range = range.map(|range| {
        let (least, most) = (range.least, range.most);
        format!(
            "{least} {most} {:?} {:?}",
            range.words,
            range.key.map(key_text)
        )
    });
    format!("{range:?} {:?}", key.map(key_text))
}

#[svc::query]
fn stored(json: Value) -> String {
    json.to_string()
}

#[svc::query(cache = 60)]
fn double(of: i32) -> i32 {
    2 * of
}

#[svc::query]
async fn people() -> Vec<Person>;

#[svc::subscription]
fn nodes(from: i32) -> impl Stream<Item = Node> {
    svc::futures_util::stream::iter([Node { id: from }])
}

const SQL: &str = "
    CREATE VIEW v_literal_person AS
        SELECT n AS id, 'person ' || n AS name, n / 2.0::float8 AS score FROM generate_series(1, 20) AS n;
    CREATE VIEW v_literal_note AS
        SELECT n AS id, 'note ' || n AS title, n % 20 + 1 AS author_id FROM generate_series(1, 60) AS n;";

async fn app() -> App {
    let limits = Limits {
        complexity: 300,
        ..Limits::default()
    };
    let options = AppOptions::new()
        .database_url(TestDatabase::shared("literals", SQL).await)
        .limits(limits)
        .queries(queries![
            start, ids, scalars, inputs, stored, double, people
        ])
        .subscriptions(subscriptions![nodes])
        .response_cache(ResponseCache::new());
    App::serve(options).await
}

/// A document that shares nothing: it has a character that stands for literals in masked texts.
fn alone(document: &str) -> String {
    format!("{document} # \u{1}")
}

/// Compares the responses to documents with those to the same documents alone.
async fn compare(app: &App, documents: &[&str], variables: &Value) {
    for document in documents {
        let shared = app.query_with(document, variables.clone()).await;
        let expected = app.query_with(&alone(document), variables.clone()).await;
        assert_eq!(
            (shared.status, shared.text),
            (expected.status, expected.text),
            "{document}"
        );
    }
}

#[tokio::test]
async fn literals_of_every_kind_are_bound() {
    let app = app().await;
    let uuid = "24c9e15e-52af-c47c-225b-757e7bee1f9d";
    let scalars = [
        r#"{ scalars(text: "a", number: 1, ratio: 1.5, big: 1, uuid: "00000000-0000-0000-0000-000000000000", color: RED) }"#.to_owned(),
        format!(r#"{{ scalars(text: "\"é\\ \u0041\n😀", number: -7, ratio: -2e3, big: 9007199254740993, uuid: "{uuid}", color: RED) }}"#),
        format!(r#"{{ scalars(text: "", number: 2147483647, ratio: 0.1, big: 0, uuid: "{uuid}", color: GREEN) }}"#),
        format!(r#"{{ scalars(text: """a "block" """, number: 2, ratio: 3, big: 4, uuid: "{uuid}", color: null) }}"#),
        format!(r#"{{ scalars(text: """another""", number: 2, ratio: 4, big: 4, uuid: "{uuid}", color: null) }}"#),
        format!(r#"{{ scalars(text: "\uD83D\uDE00\u{{1F600}}", number: 2, ratio: 0.1, big: 4, uuid: "{uuid}", color: RED) }}"#),
    ];
    let scalars: Vec<_> = scalars.iter().map(String::as_str).collect();
    compare(&app, &scalars, &json!({})).await;

    for documents in [
        &[
            r#"{ ids(ids: ["a", 1], grid: [[1, null], [2]]) }"#,
            r#"{ ids(ids: ["", 12345678901234567890], grid: [[3, null], [4]]) }"#,
            r#"{ ids(ids: "one", grid: 5) }"#,
            r#"{ ids(ids: "two", grid: 6) }"#,
            r#"{ ids(ids: [], grid: [[]]) }"#,
        ][..],
        &[
            "{ inputs(range: {least: 1}, key: {id: 1}) }",
            "{ inputs(range: {least: 2}, key: {id: 3}) }",
            "{ inputs(range: {least: 2}, key: {name: \"x\"}) }",
            "{ inputs(range: {least: 2, most: 3, words: [\"x\", \"y\"], key: {name: \"z\"}}) }",
            "{ inputs(range: {least: 4, most: 5, words: [\"\", \"#\"], key: {name: \"}\"}}) }",
            "{ inputs(range: {least: 4, most: 5, words: \"w\", key: null}) }",
        ],
        &[
            r#"{ stored(json: {a: 1, b: ["x", 2.50], c: 12345678901234567890}) }"#,
            r#"{ stored(json: {a: 2, b: ["y", 3.0], c: 0.12345678901234567890}) }"#,
            r#"{ stored(json: "text") }"#,
            r#"{ stored(json: "other") }"#,
            "{ stored(json: 1) }",
            "{ stored(json: 1.50) }",
            "{ stored(json: 2.25) }",
            "{ stored(json: 1e400000) }",
            "{ stored(json: 1.50e1) }",
        ],
    ] {
        compare(&app, documents, &json!({})).await;
    }
}

#[tokio::test]
async fn literals_and_variables_stand_side_by_side() {
    let documents = [
        "query ($n: Int! = 5, $w: String) @skip(if: false) { inputs(range: {least: $n, most: 1, words: [\"a\", $w]}) }",
        "query ($n: Int! = 5, $w: String) { inputs(range: {least: $n, most: 1, words: [\"a\", \"b\"]}) }",
        "query ($n: Int! = 5, $w: String! = \"w\") { inputs(range: {least: $n, most: 7, words: [\"ab\", $w]}) }",
        "query ($n: Int! = 6, $w: String! = \"w\") { inputs(range: {least: $n, most: 70, words: [\"\", $w]}) }",
        "query ($n: Int! = 6, $w: String! = \"v\") { inputs(range: {least: $n, most: 700, words: [\"\", $w]}) }",
    ];
    let app = app().await;
    for variables in [
        json!({}),
        json!({ "n": 9, "w": "x" }),
        json!({ "n": "x" }),
        json!({ "n": null, "0": 1, "1": "y" }),
        json!({ "w": null }),
    ] {
        compare(&app, &documents, &variables).await;
    }
}

#[tokio::test]
async fn conditions_decide_what_is_selected() {
    let app = app().await;
    for (document, expected) in [
        (
            "{ a: double(of: 1) b: double(of: 2) @skip(if: true) }",
            json!({ "a": 2 }),
        ),
        (
            "{ a: double(of: 3) b: double(of: 4) @skip(if: false) }",
            json!({ "a": 6, "b": 8 }),
        ),
        (
            "{ a: double(of: 5) b: double(of: 6) @skip(if: true) }",
            json!({ "a": 10 }),
        ),
        (
            "{ a: double(of: 7) ... @include(if: true) { b: double(of: 8) } }",
            json!({ "a": 14, "b": 16 }),
        ),
        (
            "{ a: double(of: 9) ... @include(if: false) { b: double(of: 10) } }",
            json!({ "a": 18 }),
        ),
    ] {
        assert_eq!(app.query(document).await.data(), expected, "{document}");
    }
}

#[tokio::test]
async fn errors_have_the_messages_and_places_of_the_document() {
    let app = app().await;
    for documents in [
        &[
            "{ start(at: 1) { next(by: 2) { fail(at: 3) } } }",
            "{ start(at: 10) { next(by: -1000000) { fail(at: 7) } } }",
            "{ start(at: 100) { next(by: 2000000000) { fail(at: 12345) } } }",
            "{ start(at: 101) { next(by: 2) { fail(at: 3) } } }",
            "{ start(at: 1) { next(by: 2147483648) { fail(at: 3) } } }",
            "{ start(at: 1.0) { next(by: 2) { fail(at: 3) } } }",
            "{ start(at: \"1\") { next(by: 2) { fail(at: 3) } } }",
            "{ start(at: 01) { next(by: 2) { fail(at: 3) } } }",
            "{ start(at: 1-2) { next(by: 2) { fail(at: 3) } } }",
        ][..],
        &[
            "{ scalars(text: \"short\", ratio: 1.5)\n start(at: 1) { fail(at: 2) } }",
            "{ scalars(text: \"é😀 and much longer\", ratio: 1.25)\n start(at: 1) { fail(at: 2) } }",
            "{ scalars(text: \"\\\"\", ratio: 1e400)\n start(at: 1) { fail(at: 2) } }",
            "{ scalars(text: \"\\x\", ratio: 1.5)\n start(at: 1) { fail(at: 2) } }",
            "{ scalars(text: \"\n\", ratio: 1.5)\n start(at: 1) { fail(at: 2) } }",
            "{ scalars(text: \"\\uD800\", ratio: 1.5)\n start(at: 1) { fail(at: 2) } }",
        ],
        &[
            "{ scalars(uuid: \"24c9e15e-52af-c47c-225b-757e7bee1f9d\") a: start(at: 1) { fail(at: 2) } }",
            "{ scalars(uuid: \"24C9E15E52AFC47C225B757E7BEE1F9D\") a: start(at: 1) { fail(at: 2) } }",
            "{ scalars(uuid: \"no\") a: start(at: 1) { fail(at: 2) } }",
        ],
        &[
            "fragment F on Node { fail(at: 1) } query ($n: Int!) { start(at: $n) { ...F } }",
            "fragment F on Node { fail(at: 1000) } query ($n: Int!) { start(at: $n) { ...F } }",
        ],
        &[
            "{ start(at: 1) { fail(at: 1) fail(at: 1) } }",
            "{ start(at: 1) { fail(at: 1) fail(at: 2) } }",
            "{ start(at: 22) { fail(at: 2) fail(at: 2) } }",
            "{ start(at: 22) { fail(at: 1) fail(at: 1) } }",
            "{ start(at: 22) { fail(at: 22) fail(at: 1) } }",
        ],
        &[
            "{ __type(name: \"Node\") { name } a: start(at: 1) { id } }",
            "{ __type(name: \"Query\") { name } a: start(at: 12) { id } }",
        ],
        &[
            "query A { start(at: 1) { id } } query B { ids(ids: [\"x\"]) }",
            "query A { start(at: 100) { id } } query B { ids(ids: [\"long\"]) }",
        ],
    ] {
        // The variable is missing where it is declared, and its errors have places as well.
        compare(&app, documents, &json!({})).await;
        compare(&app, documents, &json!({ "n": 7 })).await;
        compare(&app, documents, &json!({ "n": "seven" })).await;
    }
}

#[tokio::test]
async fn repeated_documents_are_answered_as_at_first() {
    let app = app().await;
    let documents = [
        "{ start(at: 1) { next(by: 2) { fail(at: 3) } } }",
        "{ start(at: 10) { next(by: -1000000) { fail(at: 7) } } }",
        "{ start(at: 101) { next(by: 2) { fail(at: 3) } } }",
        "{ start(at: 1) { next(by: 2147483648) { fail(at: 3) } } }",
        "{ start(at: 1) { next(by: 2) { id } } a: start(at: 3) { next(by: 2) { id } } }",
        "{ start(at: 1) { id } start(at: 1) { next(by: 3) { id } } }",
        "{ start(at: 2) { id } start(at: 2) { next(by: 4) { id } } }",
        "{ scalars(text: \"é\\n\", ratio: 1.50, big: 1)\n start(at: 1) { fail(at: 2) } }",
        "{ scalars(text: \"much longer\", ratio: 1.5, big: 2)\n start(at: 1) { fail(at: 2) } }",
        "{ stored(json: 1.50) }",
        "{ stored(json: 2.500) }",
        "query ($n: Int! = 5) { inputs(range: {least: $n, most: 1, words: [\"a\"]}) }",
        "query ($n: Int! = 5) { inputs(range: {least: $n, most: 2, words: [\"\"]}) }",
    ];
    for n in [1, 2, 3, 4, 5] {
        compare(&app, &documents, &json!({ "n": n })).await;
    }
}

#[tokio::test]
async fn fields_that_are_merged_have_the_same_arguments() {
    let app = app().await;
    for documents in [
        &[
            "{ start(at: 1) { id } start(at: 1) { next(by: 1) { id } } }",
            "{ start(at: 1) { id } start(at: 2) { next(by: 1) { id } } }",
            "{ start(at: 2) { id } start(at: 2) { next(by: 5) { id } } }",
            "{ start(at: 2) { id } start(at: 1) { next(by: 5) { id } } }",
        ][..],
        &[
            "{ a: start(at: 1) { next(by: 1) { id } } b: start(at: 2) { next(by: 3) { id } } }",
            "{ a: start(at: 5) { next(by: 6) { id } } b: start(at: 5) { next(by: 6) { id } } }",
        ],
        &[
            "{ start(at: 1) { next(by: 1) { id } ...F } } fragment F on Node { next(by: 1) { id } }",
            "{ start(at: 1) { next(by: 1) { id } ...F } } fragment F on Node { next(by: 2) { id } }",
            "{ start(at: 3) { next(by: 4) { id } ...F } } fragment F on Node { next(by: 4) { id } }",
        ],
        &[
            "{ ids(ids: [\"a\"]) ids(ids: [\"\\u0061\"]) }",
            "{ ids(ids: [\"a\"]) ids(ids: [\"\\u0062\"]) }",
            "{ ids(ids: [\"b\"]) ids(ids: [\"\\u0062\"]) }",
        ],
    ] {
        compare(&app, documents, &json!({})).await;
    }
}

#[tokio::test]
async fn filters_orders_and_pages_equal_those_with_variables() {
    let app = app().await;
    let document = "query ($least: Int!, $name: String!, $score: Float!, $limit: Int!, $offset: Int!, $few: Int!) {
        people(where: { id: { gte: $least, in: [3, 5, 7, 9, 11] }, name: { neq: $name }, score: { lt: $score } },
               orderBy: [{ id: DESC }], limit: $limit, offset: $offset) {
            id name score notes(orderBy: [{ id: ASC }], limit: $few) { id title } } }";
    for (least, name, score, limit, offset, few) in [
        (1, "person 5", 9.5, 10, 0, 2),
        (4, "person \\\"x", 100.25, 2, 1, 1),
        (6, "", 4.5, 3, 0, 3),
        (-1, "person 9", 5.5, 20, 2, 1),
        (1, "", 9.5, 0, 0, 0),
        (1, "", 9.5, 20, 0, 100),
        (1, "", 9.5, -1, 0, 1),
        (1, "", 9.5, 1, -1, 1),
    ] {
        let literal = document
            .replace(
                "query ($least: Int!, $name: String!, $score: Float!, $limit: Int!, $offset: Int!, $few: Int!) ",
                "",
            )
            .replace("$least", &least.to_string())
            .replace("$name", &format!("\"{name}\""))
            .replace("$score", &score.to_string())
            .replace("$limit", &limit.to_string())
            .replace("$offset", &offset.to_string())
            .replace("$few", &few.to_string());
        let variables = json!({
            "least": least, "name": name.replace("\\\"", "\""), "score": score,
            "limit": limit, "offset": offset, "few": few,
        });
        let (shared, with) = (
            app.query(&literal).await.json(),
            app.query_with(document, variables).await.json(),
        );
        assert_eq!(shared["data"], with["data"], "{literal}");
        assert_eq!(
            shared["errors"][0]["message"], with["errors"][0]["message"],
            "{literal}"
        );
        compare(&app, &[literal.as_str()], &json!({})).await;
    }
}

#[tokio::test]
async fn costs_are_those_of_the_literals() {
    let app = app().await;
    let people = |limit: i32| format!("{{ people(limit: {limit}) {{ id name score }} }}");
    for (limit, is_allowed) in [
        (1, true),
        (500, false),
        (20, true),
        (99, true),
        (101, false),
    ] {
        let document = people(limit);
        let reply = app.query(&document).await;
        let is_refused = reply.text.contains("SVC_LIMIT_COMPLEXITY");
        assert_eq!(is_refused, !is_allowed, "{document}: {}", reply.text);
        compare(&app, &[document.as_str()], &json!({})).await;
    }
}

#[tokio::test]
async fn cached_responses_are_those_of_the_literals() {
    let app = app().await;
    for _ in 0..3 {
        for of in [1, 2, 30, 400] {
            let reply = app.query(&format!("{{ double(of: {of}) }}")).await;
            assert_eq!(reply.data(), json!({ "double": 2 * of }));
        }
    }
}

#[tokio::test]
async fn hashes_stand_for_documents_with_their_literals() {
    let app = app().await;
    let send = async |document: &str, query: Option<&str>| {
        let hash = hex::encode(Sha256::digest(document));
        let persisted = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
        let mut body = json!({ "extensions": persisted });
        if let Some(query) = query {
            body["query"] = query.into();
        }
        app.post(&body).await
    };
    for of in [1, 2, 30] {
        let document = format!("query Hashed {{ double(of: {of}) }}");
        let sent = send(&document, Some(&document)).await;
        assert_eq!(sent.data(), json!({ "double": 2 * of }));
    }
    for of in [30, 1, 2] {
        let document = format!("query Hashed {{ double(of: {of}) }}");
        assert_eq!(
            send(&document, None).await.data(),
            json!({ "double": 2 * of })
        );
    }
}

#[tokio::test]
async fn events_of_subscriptions_have_their_literals_and_places() {
    let app = app().await;
    let mut socket = Socket::ready(&app).await;
    for (from, at, column) in [(1, 2, 33), (12_345, 6, 37)] {
        let id = from.to_string();
        let document = format!("subscription {{ nodes(from: {from}) {{ fail(at: {at}) }} }}");
        socket.subscribe(&id, &document).await;
        let event = socket.next().await;
        let error = &event["payload"]["errors"][0];
        assert_eq!(error["message"], format!("{from} has no {at}"), "{event}");
        assert_eq!(
            error["locations"],
            json!([{ "line": 1, "column": column }]),
            "{event}"
        );
        assert_eq!(socket.next().await["type"], "complete");
    }
}

#[tokio::test]
async fn texts_with_marks_are_refused() {
    let app = app().await;
    assert_eq!(
        app.query("{ double(of: 4) }").await.data(),
        json!({ "double": 8 })
    );
    for mark in ['\u{1}', '\u{2}', '\u{3}'] {
        let reply = app.query(&format!("{{ double(of: {mark}) }}")).await;
        assert_eq!(reply.code(), "GRAPHQL_PARSE_FAILED", "{}", reply.text);
    }
}
