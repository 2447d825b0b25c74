//! Unreadable values of clients are distinguished from unreadable stored values.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, Log, TestDatabase};

#[svc_type(sql_source = "v_thing")]
struct Thing {
    id: i32,
    price: Decimal,
    sizes: Vec<i64>,
    on: NaiveDate,
    at: DateTime<Utc>,
    meta: serde_json::Value,
    weight: f64,
    stock: i64,
}

/// Without columns, and with values that break their types.
#[svc_type(sql_source = "v_broken_thing")]
struct BrokenThing {
    id: i32,
    price: Option<Decimal>,
    on: Option<NaiveDate>,
    at: Option<DateTime<Utc>>,
}

#[svc::query]
async fn things() -> Vec<Thing>;
#[svc::query]
async fn totals() -> Aggregate<Thing>;
#[svc::query]
async fn broken() -> Vec<BrokenThing>;
#[svc::mutation(function = "double_it")]
async fn double_it(value: i64) -> i32;
#[svc::query]
fn size_of(value: serde_json::Value) -> i32 {
    value.to_string().len().try_into().unwrap_or(i32::MAX)
}

const SQL: &str = r#"
CREATE TABLE tb_thing (id int, price numeric, sizes bigint[], "on" date, at timestamptz, meta jsonb, weight float8, stock bigint);
INSERT INTO tb_thing VALUES (1, 1.5, '{1}', '2024-01-01', '2024-01-01T00:00:00Z', '{}', 1e308, 9223372036854775807),
  (2, 2.5, '{2}', '2024-01-02', '2024-01-02T00:00:00Z', '{}', 1.5e308, 9223372036854775807);
CREATE VIEW v_thing AS SELECT * FROM tb_thing;
CREATE FUNCTION double_it(value int) RETURNS int LANGUAGE sql AS 'SELECT value * 2';
CREATE VIEW v_broken_thing AS SELECT id, jsonb_build_object('id', id, 'price', 'x', 'on', 'y', 'at', 'z') AS data FROM tb_thing;
"#;

async fn app() -> App {
    let url = TestDatabase::shared("refused_values", SQL).await;
    App::serve(
        AppOptions::new()
            .database_url(url)
            .queries(queries![things, totals, broken, size_of])
            .mutations(mutations![double_it]),
    )
    .await
}

#[tokio::test]
async fn an_unreadable_value_is_a_client_error() {
    let log = Log::start();
    let app = app().await;
    let long = "9".repeat(140_000);
    let fine = format!("0.{}", "1".repeat(17_000));
    for condition in [
        json!({ "price": { "eq": long } }),
        json!({ "price": { "in": ["1.5", long] } }),
        json!({ "price": { "gt": fine } }),
        json!({ "sizes": { "contains": ["18446744073709551615"] } }),
    ] {
        let document = "query ($w: ThingWhere) { things(where: $w) { id } }";
        let reply = app.query_with(document, json!({ "w": condition })).await;
        let name = condition.to_string().chars().take(40).collect::<String>();
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{name}: {}", reply.text);
        assert!(
            reply.message().starts_with("a value cannot be compared: "),
            "{name}: {}",
            reply.text
        );
        assert!(
            reply.text.len() < 1_000,
            "{name}: the answer repeats the value"
        );
    }
    assert!(!log.text().contains("stored value"), "{}", log.text());
}

#[tokio::test]
async fn a_number_that_a_parameter_cannot_hold_is_a_client_error() {
    let app = app().await;
    assert_eq!(
        app.query("mutation { double_it(value: 21) }").await.data(),
        json!({ "double_it": 42 })
    );
    let reply = app
        .query("mutation { double_it(value: 99999999999) }")
        .await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
}

#[tokio::test]
async fn unreadable_stored_values_are_not_client_errors() {
    let log = Log::start();
    let app = app().await;
    for condition in [
        r#"price: {eq: "1"}"#,
        r#"on: {eq: "2024-01-01"}"#,
        r#"at: {lt: "2024-01-01T00:00:00Z"}"#,
    ] {
        let data = app
            .query(&format!("{{ broken(where: {{{condition}}}) {{ id }} }}"))
            .await
            .data();
        assert_eq!(data, json!({ "broken": [] }), "{condition}");
    }
    assert_eq!(
        log.text()
            .matches("a stored value does not fit its type")
            .count(),
        3,
        "{}",
        log.text()
    );
}

#[tokio::test]
async fn a_sum_that_is_too_large_fails_alone() {
    let app = app().await;
    let document = "{ totals { count sum { weight stock } avg { weight price } max { weight }
                       groups(by: [ID]) { key { id } sum { weight } count } } }";
    let reply = app.query(document).await;
    let answer = reply.json();
    let totals = &answer["data"]["totals"];
    assert_eq!(totals["count"], 2, "{}", reply.text);
    assert_eq!(
        totals["sum"],
        json!({ "weight": null, "stock": "18446744073709551614" }),
        "{}",
        reply.text
    );
    assert_eq!(
        totals["avg"],
        json!({ "weight": 1.25e308, "price": "2.0000000000000000" }),
        "{}",
        reply.text
    );
    assert_eq!(totals["max"], json!({ "weight": 1.5e308 }));
    assert_eq!(
        totals["groups"][0],
        json!({ "key": { "id": 1 }, "sum": { "weight": 1e308 }, "count": 1 })
    );
    assert_eq!(
        answer["errors"].as_array().unwrap().len(),
        1,
        "{}",
        reply.text
    );
    assert_eq!(
        answer["errors"][0]["path"],
        json!(["totals", "sum", "weight"])
    );
}

#[tokio::test]
async fn messages_quote_json_as_json() {
    let app = app().await;
    let document = "query ($v: JSON!) { size_of(value: $v) }";
    let body =
        r#"{"query": "DOC", "variables": {"v": [1, {"a": 1e399}]}}"#.replace("DOC", document);
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .body(body);
    let reply = app.send(request).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    assert!(
        reply
            .message()
            .contains(r#"expected a JSON value, found [1,{"a":1e399}]"#),
        "{}",
        reply.text
    );
}
