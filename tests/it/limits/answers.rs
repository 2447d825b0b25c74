//! The bytes of an answer are bounded.

use serde_json::json;
use svc::Limits;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, is_alone_with, resident};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
    text: String,
    maybe: Option<String>,
    part: String,
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

#[svc::query]
fn failing() -> Vec<Failing> {
    (0..60).map(|id| Failing { id }).collect()
}

#[svc_type]
struct Failing {
    id: i32,
}

#[svc_type]
impl Failing {
    fn value(&self) -> Result<Option<i32>> {
        Err(Error::with_code("NO", "there is none"))
    }
}

/// Each error repeats the keys of its path.
#[tokio::test]
async fn long_keys_do_not_inflate_the_errors() {
    let app = app().await;
    let (key, few) = (
        "k".repeat(100_000),
        app.query("{ failing { value } }").await.json(),
    );
    assert_eq!(few["errors"].as_array().unwrap().len(), 50);
    let reply = app
        .query(&format!("{{ {key}: failing {{ value }} }}"))
        .await;
    let answer = reply.json();
    assert_eq!(answer["data"][&key].as_array().unwrap().len(), 60);
    let errors = answer["errors"].as_array().unwrap();
    assert!(
        (1..10).contains(&errors.len()) && reply.text.len() < 700_000,
        "{} bytes",
        reply.text.len()
    );
    assert_eq!(
        (&errors[0]["path"][0], &errors[0]["path"][1]),
        (&json!(key), &json!(0))
    );
}

#[svc::mutation]
fn write(length: i32) -> Option<String> {
    Some("x".repeat(usize::try_from(length).unwrap()))
}

/// Four rows, each with two megabytes of texts.
const LARGE: &str = "CREATE VIEW v_item AS SELECT n AS id, repeat('x', 1000000) AS text, repeat('y', 1000000) AS maybe, \
     repeat('z', 250000) AS part \
     FROM generate_series(1, 4) AS n";

const SQL: &str = "CREATE VIEW v_item AS SELECT n AS id, repeat('x', 100) AS text, repeat('y', 100) AS maybe, '' AS part FROM generate_series(1, 1000) AS n";

async fn app() -> App {
    let database = TestDatabase::new(SQL).await;
    let limits = Limits {
        answer: 10_000,
        complexity: 1_000_000,
        ..Limits::default()
    };
    let options = AppOptions::new()
        .limits(limits)
        .database_url(database.url());
    App::serve(
        options
            .queries(queries![items, pages, texts, text, failing])
            .mutations(mutations![write]),
    )
    .await
}

#[tokio::test]
async fn an_oversized_answer_is_an_error_of_its_field() {
    let app = app().await;
    for (fits, too_large) in [
        (
            "{ items(limit: 50) { text } }",
            "{ items(limit: 200) { text } }",
        ),
        (
            "{ items(limit: 50) { again } }",
            "{ items(limit: 200) { again } }",
        ),
        (
            "{ pages(first: 50) { nodes { text } } }",
            "{ pages(first: 200) { nodes { text } } }",
        ),
        (
            "{ items(limit: 30) { same { text } } }",
            "{ items(limit: 200) { same { text } } }",
        ),
        ("{ texts(count: 50) }", "{ texts(count: 200) }"),
        ("{ text(length: 9000) }", "{ text(length: 20000) }"),
        (
            "{ a: text(length: 4000) b: text(length: 4000) }",
            "{ a: text(length: 6000) b: text(length: 6000) }",
        ),
    ] {
        assert!(
            app.query(fits).await.json().get("errors").is_none(),
            "{fits}"
        );
        let reply = app.query(too_large).await;
        assert_eq!(
            reply.code(),
            "QUERY_TOO_LARGE",
            "{too_large}: {}",
            &reply.text[..400.min(reply.text.len())]
        );
        let message = "the answer is larger than 10000 bytes (SVC_LIMIT_ANSWER); ask for fewer fields or smaller pages";
        assert_eq!(reply.message(), message);
        assert!(
            reply.text.len() < 12_000,
            "{too_large}: {} bytes",
            reply.text.len()
        );
    }
    let half = app
        .query("{ a: text(length: 6000) b: text(length: 6000) }")
        .await
        .json();
    assert_eq!(half["data"]["a"].as_str().map(str::len), Some(6_000));
    assert_eq!(
        (&half["data"]["b"], &half["errors"][0]["path"]),
        (&json!(null), &json!(["b"]))
    );
}

/// The bytes that are written are bounded, whatever the document.
#[tokio::test]
async fn an_oversized_answer_uses_bounded_memory() {
    // The allocator gives back what is large, and keeps nothing for each thread.
    let settings = [
        ("MALLOC_MMAP_THRESHOLD_", "131072"),
        ("MALLOC_TRIM_THRESHOLD_", "131072"),
        ("MALLOC_ARENA_MAX", "1"),
    ];
    if !is_alone_with(
        module_path!(),
        "an_oversized_answer_uses_bounded_memory",
        &settings,
    ) {
        return;
    }
    let database = TestDatabase::new(LARGE).await;
    let limits = Limits {
        answer: 1 << 20,
        complexity: 1_000_000,
        ..Limits::default()
    };
    let options = AppOptions::new()
        .limits(limits)
        .database_url(database.url());
    let app = App::serve(
        options
            .queries(queries![items, pages])
            .auto_camel_case(true),
    )
    .await;
    let aliases = |field: &str| {
        (0..50)
            .map(|alias| format!("a{alias}: {field} "))
            .collect::<String>()
    };
    let documents = [
        format!("{{ items {{ {} }} }}", aliases("text")),
        format!("{{ items {{ {} }} }}", aliases("maybe")),
        format!("{{ items {{ {} }} }}", aliases("again")),
        format!("{{ items {{ same {{ {} }} }} }}", aliases("maybe")),
        format!("{{ pages {{ nodes {{ {} }} }} }}", aliases("text")),
        format!(
            "{{ pages(orderBy: [{{text: ASC}}]) {{ edges {{ {} }} }} }}",
            aliases("cursor")
        ),
        format!("{{ {} }}", aliases("items { text }")),
        format!("{{ {} }}", aliases("items { maybe }")),
        format!("{{ {} }}", aliases("items { part }")),
        format!("{{ {} }}", aliases("items { same { text } }")),
    ];
    app.query("{ items { id text } pages { nodes { again } } }")
        .await
        .json();
    let before = resident();
    for document in documents {
        let reply = app.query(&document).await;
        assert_eq!(
            reply.code(),
            "QUERY_TOO_LARGE",
            "{document}: {}",
            &reply.text[..400.min(reply.text.len())]
        );
        assert!(
            reply.text.len() < (1 << 20) + 40_000,
            "{document}: {} bytes",
            reply.text.len()
        );
        let more = resident().saturating_sub(before) >> 20;
        assert!(
            more < 40,
            "{document}: {more} MiB more, where all would be 50 to 400"
        );
    }
}

#[tokio::test]
async fn an_oversized_mutation_answer_reports_its_outcome() {
    let reply = app().await.query("mutation { write(length: 20000) }").await;
    assert_eq!(reply.code(), "QUERY_TOO_LARGE");
    assert!(
        reply.json()["errors"][0]["extensions"]
            .get("mutation")
            .is_some(),
        "{}",
        reply.text
    );
}
