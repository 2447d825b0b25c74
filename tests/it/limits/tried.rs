//! Limits that are tried: what they would refuse runs, and the log says so.

use std::fmt::Write as _;

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

#[svc_type]
struct Link {
    id: i32,
}

#[svc_type]
impl Link {
    fn next(&self, #[svc(range(1..=10))] step: i32) -> Option<Link> {
        (self.id + step > 100).then_some(Link { id: step })
    }
}

#[svc::query]
fn link() -> Link {
    Link { id: 0 }
}

const SQL: &str = "CREATE VIEW v_word AS SELECT n AS id FROM generate_series(1, 3) AS n";

async fn app(limits: Limits) -> App {
    let url = TestDatabase::shared("tried_limits", SQL).await;
    App::serve(
        AppOptions::new()
            .limits(limits)
            .database_url(url)
            .queries(queries![words, count, link]),
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
async fn each_limit_has_its_code_and_a_warn_mode() {
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
async fn limits_that_protect_the_process_are_always_enforced() {
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

/// A field of forty fragments, to which 2^40 paths lead.
fn many_paths(step: i32) -> String {
    let mut text = "{ link { ...f0 } }".to_owned();
    for n in 0..40 {
        let below = format!("next(step: 1) {{ ...f{} }}", n + 1);
        let _ = write!(text, " fragment f{n} on Link {{ a: {below} b: {below} }}");
    }
    let _ = write!(
        text,
        " fragment f40 on Link {{ next(step: {step}) {{ id }} }}"
    );
    text
}

#[tokio::test]
async fn fragment_values_are_not_checked_once_per_path() {
    let app = app(Limits {
        mode: LimitMode::Warn,
        ..Limits::default()
    })
    .await;
    let reply = app.query(&many_paths(10)).await;
    assert_eq!(reply.data(), json!({ "link": { "a": null, "b": null } }));
    let reply = app.query(&many_paths(11)).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    let errors = &reply.json()["errors"][0]["extensions"]["errors"];
    assert_eq!(errors.as_array().map(Vec::len), Some(50), "{errors}");
    let mut path = vec!["link"];
    path.extend(["a"; 40]);
    path.extend(["next", "step"]);
    assert_eq!(errors[0]["path"], json!(path));
}

#[tokio::test]
async fn answers_show_the_cost_of_their_operation_if_configured() {
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
