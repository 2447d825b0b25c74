//! Places in documents are found in time that grows with the document, and no more errors are made
//! than are sent.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use svc::Limits;
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase, cpu};

#[svc_type(sql_source = "v_person")]
struct Person {
    id: i32,
    name: String,
}

#[svc_type]
#[derive(Clone)]
struct Node {
    id: i32,
}

#[svc_type]
impl Node {
    fn next(&self) -> Node {
        self.clone()
    }

    fn other(&self) -> Node {
        self.clone()
    }

    fn fail(&self) -> Result<i32> {
        Err(Error::new(svc::ErrorCode::NotFound, "there is none"))
    }
}

#[svc::query]
async fn people() -> Vec<Person>;

#[svc::query]
fn start() -> Node {
    Node { id: 0 }
}

#[svc::query]
fn echo(json: Value) -> bool {
    !json.is_null()
}

/// The CPU time that a debug build may take; the bound of a release build, 100 ms, is measured by
/// `cargo xtask bench hostile`.
const LIMIT: Duration = Duration::from_secs(2);

async fn app() -> App {
    let url = TestDatabase::shared(
        "locations",
        "CREATE VIEW v_person AS SELECT 1 AS id, 'Ada'::text AS name",
    )
    .await;
    let limits = Limits {
        complexity: 10_000,
        ..Limits::default()
    };
    App::serve(
        AppOptions::new()
            .database_url(url)
            .limits(limits)
            .queries(queries![people, start, echo]),
    )
    .await
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}

async fn timed(app: &App, what: &str, document: &str, variables: &Value) -> Reply {
    let mut least = Duration::MAX;
    // Processors that others use are slow at times.
    for number in 0..5 {
        // With another comment it is another document, which is prepared anew.
        let document = format!("{document}\n#{number}");
        let start = cpu();
        let reply = app.query_with(&document, variables.clone()).await;
        least = least.min(cpu() - start);
        assert!(
            reply.text.len() < 40_000,
            "{what}: the answer has {} bytes",
            reply.text.len()
        );
        if least < LIMIT {
            return reply;
        }
    }
    panic!("{what} took {least:?} and more");
}

#[tokio::test]
async fn many_errors_far_into_a_document_are_located_quickly() {
    let app = app().await;
    let fields = "OR:[]".repeat(3_700);
    let document = format!("{}{{people(where:{{{fields}}}){{id}}}}", spaces(900_000));
    let reply = timed(&app, "3,700 repeated fields", &document, &json!({})).await;
    let errors = reply.json()["errors"].clone();
    assert_eq!(errors.as_array().unwrap().len(), 50);
    assert_eq!(
        errors[0]["locations"],
        json!([{ "line": 1, "column": 900_021 }])
    );
}

#[tokio::test]
async fn a_repeated_field_has_few_error_locations() {
    let app = app().await;
    let document = format!(
        "{}{{{}}}",
        spaces(900_000),
        "people(limit:-1){id}".repeat(1_550)
    );
    let errors = timed(&app, "1,550 times one field", &document, &json!({}))
        .await
        .json()["errors"]
        .clone();
    let first = json!({ "line": 1, "column": 900_002 });
    assert_eq!(
        (
            errors[0]["locations"].as_array().unwrap().len(),
            &errors[0]["locations"][0]
        ),
        (10, &first)
    );
}

#[tokio::test]
async fn resolver_errors_have_few_locations() {
    let document = format!("{{ start {{ {} }} }}", "fail ".repeat(5_000));
    let reply = timed(
        &app().await,
        "5,000 times a failing field",
        &document,
        &json!({}),
    )
    .await;
    assert_eq!(
        reply.json()["errors"][0]["locations"]
            .as_array()
            .unwrap()
            .len(),
        10
    );
}

#[tokio::test]
async fn locations_are_correct_after_any_line_ending() {
    let app = app().await;
    for (before, line, column) in [
        ("\n".repeat(100_000), 100_001, 3),
        ("\r\n".repeat(100_000), 100_001, 3),
        ("\r".repeat(5_000), 5_001, 3),
        (format!("#{}\n", "\u{1F600}".repeat(10_000)), 2, 3),
        (format!("#{}\n   ", "é".repeat(10_000)), 2, 6),
        (
            format!("query ($s: String = \"{}\") ", "\u{1F600}é".repeat(2_000)),
            1,
            6_027,
        ),
    ] {
        let reply = app.query(&format!("{before}{{ unknown }}")).await;
        let locations = json!([{ "line": line, "column": column }]);
        let errors = reply.json()["errors"].clone();
        let found = errors
            .as_array()
            .unwrap()
            .iter()
            .find(|error| error["message"].to_string().contains("unknown"));
        assert_eq!(found.unwrap()["locations"], locations);
    }
}

#[tokio::test]
async fn the_number_of_variable_errors_is_bounded() {
    let app = app().await;
    let declared: String = (0..1_000).map(|n| format!("$v{n}:Int")).collect();
    let used: String = (0..1_000).map(|n| format!("$v{n} ")).collect();
    let document = format!(
        "query({declared}){}{{echo(json:[{used}])}}",
        spaces(800_000)
    );
    let variables: serde_json::Map<_, _> = (0..1_000)
        .map(|n| (format!("v{n}"), json!("no number")))
        .collect();
    let reply = timed(
        &app,
        "1,000 wrong variables",
        &document,
        &Value::Object(variables),
    )
    .await;
    assert_eq!(reply.json()["errors"].as_array().unwrap().len(), 50);
}

/// Documents whose validation or planning would take time that grows faster than they do.
fn superlinear() -> Vec<(&'static str, String)> {
    let fields = "next{id}".repeat(1_000);
    let operations: String = (0..700)
        .map(|n| format!("query q{n}{{start{{...f}}}}"))
        .collect();
    let keys: String = (0..1_500).map(|n| format!("k{n}:\"\"")).collect();
    let subsets = (1..100).fold(String::new(), |mut text, alias| {
        let spreads: String = (0..7)
            .filter(|bit| alias >> bit & 1 == 1)
            .map(|bit| format!("...g{bit} "))
            .collect();
        let _ = write!(text, "a{alias}:start{{{spreads}...f}}");
        text
    });
    let shared: String = (0..7)
        .map(|n| format!(" fragment g{n} on Node{{id}}"))
        .collect();
    vec![
        (
            "700 operations over one fragment",
            format!("{operations} fragment f on Node{{{fields}}}"),
        ),
        (
            "99 subsets beside one fragment",
            format!("{{{subsets}}}{shared} fragment f on Node{{{fields}}}"),
        ),
        ("subsets of fragments on each level", levels(14, 30)),
        (
            "two objects of 1,500 keys",
            format!("{{echo(json:{{{keys}}})echo(json:{{{keys}}})}}"),
        ),
    ]
}

/// Fragments on levels, each of which spreads two of the next level below one field and two others
/// below another: the sets of fragments that meet double on each level.
fn levels(levels: usize, width: usize) -> String {
    let mut text = "{start{...f0x0}}".to_owned();
    for level in 0..levels {
        for n in 0..width {
            let next = |step: usize| (n * 7 + step) % width;
            let below = level + 1;
            let _ = write!(
                text,
                "fragment f{level}x{n} on Node{{next{{...f{below}x{}...f{below}x{}}}other{{...f{below}x{}...f{below}x{}}}}}",
                next(1),
                next(5),
                next(11),
                next(17)
            );
        }
    }
    for n in 0..width {
        let _ = write!(text, "fragment f{levels}x{n} on Node{{id}}");
    }
    text
}

#[tokio::test]
async fn repetitive_documents_are_answered_or_refused_quickly() {
    let app = app().await;
    for (what, document) in superlinear() {
        timed(&app, what, &document, &json!({ "operationName": "q0" })).await;
    }
}
