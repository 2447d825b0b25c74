//! Small documents that could hold a server.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase, cpu};

#[svc_type]
#[derive(Clone)]
struct Node {
    id: i32,
}

#[svc_type]
impl Node {
    fn next(&self) -> Node {
        Node { id: self.id + 1 }
    }
    fn many(&self) -> Vec<Node> {
        vec![self.clone(); 3]
    }
}

#[svc::query]
fn start() -> Node {
    Node { id: 0 }
}

/// The CPU time that a debug build may take; the bound of a release build, 100 ms, is measured by
/// `cargo xtask bench hostile`.
const LIMIT: Duration = Duration::from_secs(2);

async fn app() -> App {
    let url = TestDatabase::empty().await;
    App::serve(AppOptions::new().database_url(url).queries(queries![start])).await
}

fn fragment_bomb(nested: bool) -> String {
    let mut text = "{ start { ...f0 } }".to_owned();
    for n in 0..30 {
        let next = n + 1;
        let _ = if nested {
            write!(
                text,
                " fragment f{n} on Node {{ a: next {{ ...f{next} }} b: next {{ ...f{next} }} }}"
            )
        } else {
            write!(text, " fragment f{n} on Node {{ ...f{next} ...f{next} }}")
        };
    }
    text + " fragment f30 on Node { id }"
}

fn deep(levels: usize) -> String {
    format!(
        "{{ start {}{{ id }}{} }}",
        "{ next ".repeat(levels),
        " }".repeat(levels)
    )
}

fn aliases(count: usize) -> String {
    let fields: String = (0..count).map(|n| format!("a{n}: id ")).collect();
    format!("{{ start {{ {fields} }} }}")
}

/// Documents, each with the codes that refuse it; an empty list is an answer.
fn documents() -> Vec<(&'static str, String, &'static [&'static str])> {
    vec![
        (
            "fragments that spread the next twice",
            fragment_bomb(false),
            &[],
        ),
        (
            "fragments that nest the next twice",
            fragment_bomb(true),
            &["QUERY_TOO_DEEP"],
        ),
        ("10,000 aliases", aliases(10_000), &["QUERY_TOO_LARGE"]),
        ("4,000 aliases", aliases(4_000), &["QUERY_TOO_LARGE"]),
        (
            "depth 10,000",
            deep(10_000),
            &["QUERY_TOO_LARGE", "QUERY_TOO_DEEP"],
        ),
        (
            "depth 100",
            deep(100),
            &["QUERY_TOO_LARGE", "QUERY_TOO_DEEP"],
        ),
        (
            "10,000 braces",
            "{".repeat(10_000),
            &["QUERY_TOO_LARGE", "GRAPHQL_PARSE_FAILED"],
        ),
        (
            "4,000 directives",
            format!("{{ start {{ id {} }} }}", "@x ".repeat(4_000)),
            &["QUERY_TOO_LARGE"],
        ),
        (
            "5,000 repeated fields",
            format!("{{ start {{ {} }} }}", "id ".repeat(5_000)),
            &[],
        ),
        (
            "a list in lists",
            format!(
                "{{ start {}{{ id }}{} }}",
                "{ many ".repeat(8),
                " }".repeat(8)
            ),
            &["QUERY_TOO_COMPLEX"],
        ),
        (
            "a megabyte of comment",
            format!("#{}\n{{ start {{ id }} }}", "x".repeat(900_000)),
            &[],
        ),
        (
            "nested lists in an argument",
            format!(
                "{{ start(x: {}1{}) {{ id }} }}",
                "[".repeat(5_000),
                "]".repeat(5_000)
            ),
            &["QUERY_TOO_LARGE", "GRAPHQL_PARSE_FAILED"],
        ),
        (
            "deep introspection",
            format!(
                "{{ __schema {{ types {{ {} name {} }} }} }}",
                "fields { type { ".repeat(40),
                "} }".repeat(40)
            ),
            &["QUERY_TOO_DEEP", "QUERY_TOO_LARGE"],
        ),
    ]
}

#[tokio::test]
async fn small_documents_use_little_cpu_time() {
    let app = app().await;
    for (what, document, codes) in documents() {
        let mut least = Duration::MAX;
        // Processors that others use are slow at times.
        for number in 0..5 {
            // With another comment it is another document, which is prepared anew.
            let start = cpu();
            let reply: Reply = app.query(&format!("{document}\n#{number}")).await;
            least = least.min(cpu() - start);
            if codes.is_empty() {
                reply.data();
            } else {
                assert!(
                    codes.contains(&reply.code().as_str()),
                    "{what}: {}",
                    reply.text
                );
            }
            assert!(
                reply.text.len() < 50_000,
                "{what}: the answer has {} bytes",
                reply.text.len()
            );
            if least < LIMIT {
                break;
            }
        }
        assert!(least < LIMIT, "{what} took {least:?} and more");
        assert_eq!(
            app.query("{ start { id } }").await.data(),
            json!({ "start": { "id": 0 } }),
            "after {what}"
        );
    }
}

#[tokio::test]
async fn oversized_bodies_are_refused() {
    let app = app().await;
    for size in [1_000_001, 10_000_000] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let reply = app.send(request.body(" ".repeat(size))).await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (413, "QUERY_TOO_LARGE")
        );
    }
}

#[tokio::test]
async fn the_number_of_errors_in_an_answer_is_bounded() {
    let fields: String = (0..5_000).map(|n| format!("nope{n} ")).collect();
    let reply = app().await.query(&format!("{{ {fields} }}")).await;
    assert_eq!(reply.json()["errors"].as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn the_number_of_values_in_variables_is_bounded() {
    let app = app().await;
    for variables in [
        json!({ "v": vec![0; 20_001] }),
        json!({ "v": vec![json!({ "a": 1 }); 10_001] }),
    ] {
        let reply = app
            .query_with(
                "query ($v: [Int]) { start { id @include(if: true) } }",
                variables,
            )
            .await;
        assert_eq!(reply.code(), "QUERY_TOO_LARGE", "{}", reply.text);
    }
}
