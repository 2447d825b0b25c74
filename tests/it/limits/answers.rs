//! The bytes of an answer are bounded.

use serde_json::json;
use svc::Limits;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
    text: String,
    #[relation(from = "id", to = "id")]
    same: Many<Item>,
}

#[svc_type]
impl Item {
    async fn again(&self) -> String {
        self.text.clone()
    }
}

#[svc::query]
async fn items() -> Vec<Item>;

#[svc::query]
async fn pages() -> Connection<Item>;

#[svc::query]
fn texts(count: i32) -> Vec<String> {
    (0..count).map(|_| "x".repeat(100)).collect()
}

#[svc::query]
fn text(length: i32) -> Option<String> {
    Some("x".repeat(usize::try_from(length).unwrap()))
}

#[svc::mutation]
fn write(length: i32) -> Option<String> {
    Some("x".repeat(usize::try_from(length).unwrap()))
}

const SQL: &str = "CREATE VIEW v_item AS SELECT n AS id, repeat('x', 100) AS text FROM generate_series(1, 1000) AS n";

async fn app() -> App {
    let database = TestDatabase::new(SQL).await;
    let limits = Limits { answer: 10_000, complexity: 1_000_000, ..Limits::default() };
    let options = AppOptions::new().limits(limits).database_url(database.url());
    App::serve(options.queries(queries![items, pages, texts, text]).mutations(mutations![write])).await
}

#[tokio::test]
async fn an_answer_that_gets_too_large_is_an_error_of_its_field() {
    let app = app().await;
    for (fits, too_large) in [
        ("{ items(limit: 50) { text } }", "{ items(limit: 200) { text } }"),
        ("{ items(limit: 50) { again } }", "{ items(limit: 200) { again } }"),
        ("{ pages(first: 50) { nodes { text } } }", "{ pages(first: 200) { nodes { text } } }"),
        ("{ items(limit: 30) { same { text } } }", "{ items(limit: 200) { same { text } } }"),
        ("{ texts(count: 50) }", "{ texts(count: 200) }"),
        ("{ text(length: 9000) }", "{ text(length: 20000) }"),
        ("{ a: text(length: 4000) b: text(length: 4000) }", "{ a: text(length: 6000) b: text(length: 6000) }"),
    ] {
        assert!(app.query(fits).await.json().get("errors").is_none(), "{fits}");
        let reply = app.query(too_large).await;
        assert_eq!(reply.code(), "QUERY_TOO_LARGE", "{too_large}: {}", &reply.text[..400.min(reply.text.len())]);
        let message = "the answer is larger than 10000 bytes (SVC_LIMIT_ANSWER); ask for fewer fields or smaller pages";
        assert_eq!(reply.message(), message);
        assert!(reply.text.len() < 12_000, "{too_large}: {} bytes", reply.text.len());
    }
    let half = app.query("{ a: text(length: 6000) b: text(length: 6000) }").await.json();
    assert_eq!(half["data"]["a"].as_str().map(str::len), Some(6_000));
    assert_eq!((&half["data"]["b"], &half["errors"][0]["path"]), (&json!(null), &json!(["b"])));
}

#[tokio::test]
async fn a_mutation_says_that_it_is_done() {
    let reply = app().await.query("mutation { write(length: 20000) }").await;
    assert_eq!(reply.code(), "QUERY_TOO_LARGE");
    assert!(reply.json()["errors"][0]["extensions"].get("mutation").is_some(), "{}", reply.text);
}
