//! Limits that are tried: what they would refuse runs, and the log says so.

use serde_json::json;
use svc::prelude::*;
use svc::{LimitMode, Limits};
use svc_tests::{App, Log, TestDatabase};

#[svc_type(sql_source = "v_word")]
struct Word {
    id: i32,
    #[relation(from = "id", to = "id")]
    same: One<Word>,
}

#[svc::query]
async fn words() -> Vec<Word>;

#[svc::query]
fn count(of: Vec<i32>) -> i32 {
    of.iter().sum()
}

const SQL: &str = "CREATE VIEW v_word AS SELECT n AS id FROM generate_series(1, 3) AS n";

async fn app(limits: Limits) -> App {
    let database = TestDatabase::new(SQL).await;
    App::serve(
        AppOptions::new()
            .limits(limits)
            .database_url(database.url())
            .queries(queries![words, count]),
    )
    .await
}

fn tight(mode: LimitMode) -> Limits {
    Limits {
        aliases: 1,
        depth: 2,
        root_fields: 1,
        directives: 1,
        complexity: 100,
        values: 2,
        comparisons: 1,
        relations: 1,
        order_keys: 1,
        mode,
        ..Limits::default()
    }
}

const OVER: [(&str, &str, &str); 8] = [
    (
        "{ words(limit: 1) { a: id b: id } }",
        "QUERY_TOO_LARGE",
        "aliases",
    ),
    (
        "{ words(limit: 1) { same { id } } }",
        "QUERY_TOO_DEEP",
        "levels",
    ),
    (
        "{ words(limit: 1) { id } count(of: []) }",
        "QUERY_TOO_LARGE",
        "root fields",
    ),
    (
        "{ words(limit: 1) { id @skip(if: false) @include(if: true) } }",
        "QUERY_TOO_LARGE",
        "directives",
    ),
    (
        "{ words(limit: 1000) { id } }",
        "QUERY_TOO_COMPLEX",
        "complexity",
    ),
    (
        "{ words(limit: 1, where: { id: { gt: 0, lt: 9 } }) { id } }",
        "QUERY_TOO_COMPLEX",
        "comparisons",
    ),
    (
        "{ words(limit: 1, order_by: [{ id: ASC }, { id: DESC }]) { id } }",
        "QUERY_TOO_COMPLEX",
        "keys",
    ),
    (
        "query($of: [Int!]!) { count(of: $of) }",
        "QUERY_TOO_LARGE",
        "values",
    ),
];

#[tokio::test]
async fn each_limit_has_its_code_and_can_be_tried() {
    let enforced = app(tight(LimitMode::Enforce)).await;
    let log = Log::start();
    let tried = app(tight(LimitMode::Warn)).await;
    for (document, code, what) in OVER {
        let variables = if what == "values" {
            json!({ "of": [1, 2, 3] })
        } else {
            json!({})
        };
        let reply = enforced.query_with(document, variables.clone()).await;
        assert_eq!(reply.code(), code, "{document}: {}", reply.text);
        assert!(
            reply.message().contains(what),
            "{document}: {}",
            reply.message()
        );
        let reply = tried.query_with(document, variables).await;
        assert!(
            reply.json().get("errors").is_none(),
            "{document}: {}",
            reply.text
        );
        let text = log.text();
        let line = text
            .lines()
            .rfind(|line| line.contains("query.limit_tried"))
            .expect(document);
        assert!(
            line.contains(&format!("\"code\":\"{code}\"")) && line.contains(what),
            "{document}: {line}"
        );
        assert!(line.contains("request_id="), "{line}");
    }
}

#[tokio::test]
async fn what_protects_the_process_is_always_enforced() {
    let limits = Limits {
        tokens: 20,
        body: 1_000,
        answer: 100,
        max_page: 2,
        default_page: 2,
        mode: LimitMode::Warn,
        ..Limits::default()
    };
    let app = app(limits).await;
    assert_eq!(
        app.query(&format!("{{ words {{ {} }} }}", "id ".repeat(30)))
            .await
            .code(),
        "QUERY_TOO_LARGE"
    );
    assert_eq!(app.query(&" ".repeat(2_000)).await.status, 413);
    assert_eq!(
        app.query("{ words(limit: 3) { id } }").await.code(),
        "BAD_USER_INPUT"
    );
}

#[tokio::test]
async fn answers_say_what_their_operation_costs_where_that_is_switched_on() {
    let shown = app(Limits {
        show_cost: true,
        ..Limits::default()
    })
    .await;
    let reply = shown.query("{ words(limit: 10) { id same { id } } }").await;
    let cost = &reply.json()["extensions"]["cost"];
    assert_eq!(
        cost["complexity"],
        json!({ "cost": 31, "limit": 10_000 }),
        "{}",
        reply.text
    );
    assert_eq!(
        (&cost["depth"]["cost"], &cost["relations"]["cost"]),
        (&json!(3), &json!(1))
    );
    let hidden = app(Limits::default()).await.query("{ words { id } }").await;
    assert!(hidden.json().get("extensions").is_none());
}
