//! Columns that a view computes with an expression that fails for a hidden row: no condition and
//! no order of a client evaluates it.

use serde_json::{Value, json};
use svc::authz::Authorizer;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, eventually};

#[svc_type(sql_source = "v_report")]
struct Report {
    id: i32,
    title: String,
    rating: Option<i32>,
    number: Option<i32>,
    /// In `data` only.
    size: Option<i32>,
    #[relation]
    writer: One<Writer>,
}

#[svc_type(sql_source = "v_writer")]
struct Writer {
    id: i32,
    #[relation(to = "writer_id", aggregate)]
    reports: Many<Report>,
}

#[svc::query]
async fn reports() -> Vec<Report>;
#[svc::query]
async fn pages() -> Connection<Report>;
#[svc::query]
async fn totals() -> Aggregate<Report>;
#[svc::query]
async fn writers() -> Vec<Writer>;

const TABLES: &str = "
CREATE TABLE tb_writer (id int PRIMARY KEY, tenant text NOT NULL);
INSERT INTO tb_writer VALUES (1, 'a'), (2, 'b');
CREATE TABLE tb_report (id int PRIMARY KEY, tenant text NOT NULL, title text NOT NULL, divisor int NOT NULL,
  payload jsonb NOT NULL, writer_id int NOT NULL);
INSERT INTO tb_report SELECT n, (ARRAY['a', 'b'])[n % 2 + 1], 'report ' || n, n, jsonb_build_object('n', n), n % 2 + 1
  FROM generate_series(1, 40) n;
CREATE VIEW v_writer AS SELECT id, tenant FROM tb_writer;";

const VIEWS: &str = "
CREATE VIEW v_base AS SELECT id, tenant, title, writer_id, 100 / divisor AS rating, (payload->>'n')::int AS number,
  jsonb_build_object('size', 1000 / divisor) AS data FROM tb_report;
CREATE VIEW v_report AS SELECT * FROM v_base;";

/// A row of the tenant `b` whose columns cannot be computed.
const FAILING: &str =
    r#"INSERT INTO tb_report VALUES (100, 'b', 'report 100', 0, '{"n": "x"}', 2);"#;

const OF_REPORTS: [&str; 10] = [
    "reports(where: {rating: {gt: 1}}) { id rating }",
    r#"reports(where: {rating: {isnull: false}, title: {contains: "report"}}) { id }"#,
    "reports(where: {number: {gt: 3}}) { id number }",
    "reports(where: {size: {gt: 30}}) { id size }",
    r#"reports(where: {OR: [{rating: {eq: 5}}, {number: {in: [4, 6]}}], title: {neq: "report 4"}}) { id }"#,
    "reports(where: {NOT: {rating: {lt: 10}}, id: {gt: 2}}, orderBy: [{number: DESC}]) { id }",
    // So many reads of `data` are one.
    "reports(where: {size: {gt: 30, lt: 400, neq: 31, isnull: false}}, orderBy: [{size: DESC}, {rating: ASC}]) { id }",
    "totals(where: {rating: {gt: 1}, size: {gt: 1}}) { count max { rating } sum { number size } }",
    "totals { groups(by: [RATING], having: {min: {number: {gt: 3}}}, orderBy: [{min: {number: ASC}}]) { count } }",
    "pages(first: 5, where: {number: {gt: 3}}, orderBy: [{size: ASC}]) { totalCount nodes { id } }",
];

const OF_WRITERS: [&str; 4] = [
    "writers(where: {reports: {some: {rating: {gt: 1}}}}) { id }",
    "writers(where: {reportsAggregate: {max: {rating: {gt: 1}}}}) { id }",
    "writers(where: {reportsAggregate: {where: {rating: {gt: 1}, number: {gt: 1}}, count: {gt: 1}}}) { id }",
    "writers(orderBy: [{reportsAggregate: {sum: {rating: DESC}}}]) \
       { id reports(where: {rating: {gt: 20}}, orderBy: [{rating: ASC}]) { id } }",
];

type Policy = fn(&Context<'_>) -> Result<RowDecision>;

fn by_column(_: &Context<'_>) -> Result<RowDecision> {
    Ok(RowDecision::allow_where(col("tenant").eq("a")))
}

fn by_relation(_: &Context<'_>) -> Result<RowDecision> {
    Ok(RowDecision::allow_where(col("writer.tenant").eq("a")))
}

fn options(database: &TestDatabase) -> AppOptions {
    AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![reports, pages, totals, writers])
}

fn governed(database: &TestDatabase, policy: Policy) -> AppOptions {
    options(database)
        .row_policy::<Report>(policy)
        .row_policy::<Writer>(by_column)
}

fn filtered(database: &TestDatabase) -> AppOptions {
    let decision = AuthorizationDecision::allow_where(col("writer.tenant").eq("a"));
    options(database).authorizer(Always(decision))
}

struct Always(AuthorizationDecision);

impl Authorizer for Always {
    async fn authorize_operation(&self, _: AuthorizationRequest) -> Result<AuthorizationDecision> {
        Ok(self.0.clone())
    }
}

/// The data of all documents, and of the pages by cursors.
async fn answers(app: &App, documents: &[&str]) -> Vec<Value> {
    let mut answers = Vec::new();
    for document in documents {
        let reply = app.query(&format!("{{ {document} }}")).await;
        assert!(
            reply.json().get("errors").is_none(),
            "{document}: {}",
            reply.text
        );
        answers.push(reply.data());
    }
    for order in ["rating: DESC", "number: ASC", "size: DESC_NULLS_LAST"] {
        let mut after = String::new();
        for _ in 0..3 {
            let page = format!(
                "{{ pages(first: 6, orderBy: [{{{order}}}]{after}) {{ nodes {{ id }} pageInfo {{ endCursor hasPreviousPage }} }} }}"
            );
            let data = app.query(&page).await.data();
            after = format!(", after: {}", data["pages"]["pageInfo"]["endCursor"]);
            answers.push(data);
        }
    }
    answers
}

#[tokio::test]
async fn conditions_and_orders_do_not_reveal_failing_hidden_rows() {
    let clean = TestDatabase::new(&[TABLES, VIEWS].concat()).await;
    let failing = TestDatabase::new(&[TABLES, VIEWS, FAILING].concat()).await;
    let all = [OF_REPORTS.as_slice(), &OF_WRITERS].concat();
    for policy in [by_column as Policy, by_relation] {
        let expected = answers(&App::serve(governed(&clean, policy)).await, &all).await;
        let found = answers(&App::serve(governed(&failing, policy)).await, &all).await;
        assert_eq!(found, expected);
        assert_eq!(found[0]["reports"][0], json!({ "id": 2, "rating": 50 }));
    }
    let expected = answers(&App::serve(filtered(&clean)).await, &OF_REPORTS).await;
    let found = answers(&App::serve(filtered(&failing)).await, &OF_REPORTS).await;
    assert_eq!(found, expected);
}

/// A replaced view keeps the names of its columns, but not their definitions.
#[tokio::test]
async fn a_column_replaced_by_an_expression_is_followed() {
    let stored = VIEWS.replace("100 / divisor AS rating", "divisor AS rating");
    let database = TestDatabase::new(&[TABLES, &stored, FAILING].concat()).await;
    let app = App::serve(governed(&database, by_relation)).await;
    let document = "{ reports(where: {rating: {gt: 1}}, limit: 1) { id rating } }";
    let first = |rating: i32| json!({ "data": { "reports": [{ "id": 2, "rating": rating }] } });
    assert_eq!(app.query(document).await.json(), first(2));
    database
        .execute(&VIEWS.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"))
        .await;
    eventually(async || {
        let reply = app.query(document).await;
        if reply.json() == first(50) {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
}
