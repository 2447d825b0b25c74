//! Columns with the names that svc's own SQL uses.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

/// Every name that stands for rows or values in statements.
#[svc_type(sql_source = "v_alias")]
struct Alias {
    id: i32,
    t: String,
    t1: String,
    r: String,
    x: Vec<String>,
    k: String,
    v: String,
    n: i32,
    e1: Vec<Part>,
    tags: Vec<String>,
    data: serde_json::Value,
    s: Option<i32>,
    #[relation(from = "n")]
    next: Option<One<Alias>>,
    #[relation(to = "n")]
    before: Many<Alias>,
}

#[svc_type]
impl Alias {
    fn loud(&self) -> String {
        self.r.to_uppercase()
    }
}

#[svc_type]
struct Part {
    v: String,
    x: Option<Vec<i32>>,
}

#[svc::query]
async fn aliases() -> Vec<Alias>;
#[svc::query]
async fn pages() -> Connection<Alias>;
#[svc::query]
async fn sums() -> Aggregate<Alias>;

#[svc_type]
struct Pair {
    r: i32,
    b: Option<String>,
}
#[svc::mutation(function = "app.pair")]
async fn pair() -> Pair;
#[svc::mutation(function = "app.pairs")]
async fn pairs() -> Vec<Pair>;
#[svc::mutation(function = "app.nothing")]
async fn nothing() -> Option<Pair>;
#[svc::mutation(function = "app.single")]
async fn single() -> serde_json::Value;
#[svc::mutation(function = "app.number")]
async fn number() -> i32;

const SQL: &str = r#"
CREATE SCHEMA app;
CREATE TABLE tb_alias (id int, t text, t1 text, r text, x text[], k text, v text, n int, e1 jsonb, s int);
INSERT INTO tb_alias SELECT i, 't' || i, 't1', 'r' || i, ARRAY['x' || i], 'k', 'v', i % 3 + 1,
  jsonb_build_array(jsonb_build_object('v', 'part' || i, 'x', ARRAY[i, 7])), i FROM generate_series(1, 3) i;
CREATE VIEW v_alias AS SELECT *, jsonb_build_object('tags', ARRAY['tag' || id]) AS data FROM tb_alias;
CREATE TYPE app.pair AS (r int, b text);
CREATE FUNCTION app.pair(OUT r int, OUT b text) LANGUAGE sql AS $$ SELECT 1, 'one' $$;
CREATE FUNCTION app.pairs() RETURNS TABLE (r int, b text) LANGUAGE sql AS $$ VALUES (1, 'one'), (2, null) $$;
CREATE FUNCTION app.nothing() RETURNS app.pair LANGUAGE sql AS $$ SELECT null::int, null::text $$;
CREATE FUNCTION app.single(OUT r jsonb) LANGUAGE sql AS $$ SELECT '{"a": [1]}'::jsonb $$;
CREATE FUNCTION app.number() RETURNS int LANGUAGE sql AS $$ SELECT 5 $$;
"#;

async fn app() -> App {
    let url = TestDatabase::shared("column_names", SQL).await;
    let options = AppOptions::new().database_url(url).auto_camel_case(true);
    let options = options.queries(queries![aliases, pages, sums]);
    App::serve(options.mutations(mutations![pair, pairs, nothing, single, number])).await
}

#[tokio::test]
async fn functions_may_return_a_column_of_any_name() {
    let app = app().await;
    let reply = app
        .query("mutation { pair { r b } pairs { r b } nothing { r } single number }")
        .await;
    assert_eq!(
        reply.data(),
        json!({
            "pair": { "r": 1, "b": "one" }, "pairs": [{ "r": 1, "b": "one" }, { "r": 2, "b": null }],
            "nothing": null, "single": { "a": [1] }, "number": 5,
        })
    );
}

#[tokio::test]
async fn views_may_have_columns_of_any_name() {
    let app = app().await;
    for (arguments, expected) in [
        (r#"where: {tags: {contains: ["tag2"]}}"#, json!([2])),
        (r#"where: {x: {contains: ["x3"]}}"#, json!([3])),
        (
            r#"where: {e1: {some: {v: {eq: "part2"}, x: {contains: [2]}}}}"#,
            json!([2]),
        ),
        (
            r#"where: {next: {r: {eq: "r3"}, tags: {overlaps: ["tag3"]}}}"#,
            json!([2]),
        ),
        (r#"where: {before: {some: {t: {eq: "t1"}}}}"#, json!([2])),
        ("orderBy: [{next: {n: DESC}}]", json!([1, 3, 2])),
        (
            "orderBy: [{v: ASC}, {k: ASC}, {r: DESC}], limit: 2",
            json!([3, 2]),
        ),
    ] {
        let reply = app
            .query(&format!("{{ aliases({arguments}) {{ id }} }}"))
            .await;
        let found: serde_json::Value = reply.data()["aliases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].clone())
            .collect();
        assert_eq!(found, expected, "{arguments}");
    }
    let rows = "id r v n s t t1 k next { r loud t1 } before(limit: 2) { t x tags e1 { v x } } loud";
    let one = app
        .query(&format!(
            "{{ aliases(where: {{id: {{eq: 1}}}}) {{ {rows} }} }}"
        ))
        .await;
    let expected = json!([{
        "id": 1, "r": "r1", "v": "v", "n": 2, "s": 1, "t": "t1", "t1": "t1", "k": "k",
        "next": { "r": "r2", "loud": "R2", "t1": "t1" },
        "before": [{ "t": "t3", "x": ["x3"], "tags": ["tag3"], "e1": [{ "v": "part3", "x": [3, 7] }] }],
        "loud": "R1",
    }]);
    assert_eq!(one.data()["aliases"], expected);
    let page = app.query("{ pages(first: 1, orderBy: [{r: DESC}]) { nodes { r next { t } } totalCount } sums { sum { n s } groups(by: [K]) { count key { k } } } }");
    assert_eq!(
        page.await.data(),
        json!({
            "pages": { "nodes": [{ "r": "r3", "next": { "t": "t1" } }], "totalCount": 3 },
            "sums": { "sum": { "n": 6, "s": 6 }, "groups": [{ "count": 3, "key": { "k": "k" } }] },
        })
    );
}
