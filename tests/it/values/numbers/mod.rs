//! Numbers keep all their digits, on every way in and out.

mod clients;
mod rows;

use serde_json::value::RawValue;
use svc::Operation;
use svc::prelude::*;
use svc::serde_json::Value as Json;
use svc_tests::{App, Reply, TestDatabase};

/// More digits than a double or a `Decimal` of the program holds in places.
const DOCUMENT: &str =
    r#"{"big":123456789012345678901234567890,"fine":0.12345678901234567890123,"huge":1e400}"#;
/// The same as PostgreSQL writes it.
fn document() -> String {
    DOCUMENT.replace("1e400", &format!("1{}", "0".repeat(400)))
}
const DIGITS: &str = "0.1234567890123456789012345678";

#[svc_type]
struct Rent {
    amount: Decimal,
    extra: Option<Box<RawValue>>,
}

#[svc_type]
impl Rent {
    fn amount_again(&self) -> Decimal {
        self.amount
    }
    fn extra_again(&self) -> Option<Box<RawValue>> {
        self.extra.clone()
    }
}

macro_rules! flat {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            exact: Decimal,
            total: i64,
            notes: Option<Box<RawValue>>,
            rent: Rent,
        }

        #[svc_type]
        impl $name {
            /// Selecting it reads whole rows.
            fn exact_again(&self) -> Decimal {
                self.exact
            }
        }
    };
}

flat!(ColumnFlat, "v_flat_columns");
flat!(DataFlat, "v_flat_data");
flat!(TableFlat, "tv_flat");

#[svc::query]
async fn columns() -> Vec<ColumnFlat>;
#[svc::query]
async fn data() -> Vec<DataFlat>;
#[svc::query]
async fn table() -> Vec<TableFlat>;
#[svc::query]
async fn awaited(ctx: &Context<'_>) -> Result<Vec<DataFlat>> {
    ctx.db()
        .find::<DataFlat>()
        .order_by(asc("id"))
        .limit(1)
        .await
}
#[svc::query]
async fn smallest(ctx: &Context<'_>) -> Result<Option<Decimal>> {
    ctx.db().find::<DataFlat>().sum("exact").await
}

#[svc::query]
fn echo_floats(values: Vec<f64>, #[svc(default = 51.24817837550540)] one: f64) -> Vec<f64> {
    values.into_iter().chain([one]).collect()
}
#[svc::query]
fn echo_decimal(
    value: Decimal,
    #[svc(default = 0.1234567890123456789012345678)] other: Decimal,
) -> Vec<Decimal> {
    vec![value, other]
}
#[svc::query]
fn echo_json(value: Box<RawValue>) -> Box<RawValue> {
    value
}
#[svc::query]
fn echo_nearest(value: Json) -> Json {
    value
}
#[svc::query]
fn echo_integers(value: i64, id: ID) -> Vec<String> {
    vec![value.to_string(), id.to_string()]
}

#[svc_input]
struct FlatInput {
    exact: Decimal,
    ratio: f64,
    notes: Json,
}

/// Gives back what it is given, as text.
#[svc::mutation(function = "app.keep")]
async fn keep(input: FlatInput, exact: Decimal, notes: Json, ratio: f64) -> String;
#[svc::mutation(function = "app.flat")]
async fn flat() -> DataFlat;
#[svc_result]
enum FlatResult {
    Success {
        flat: Option<DataFlat>,
        notes: Option<Box<RawValue>>,
    },
    Error,
}
#[svc::mutation(function = "app.flat_result")]
async fn flat_result() -> FlatResult;
/// Reads the function's answer into a struct of the program.
#[svc::mutation]
async fn call_flat(ctx: &Context<'_>) -> Result<DataFlat> {
    ctx.db().call("app.flat", []).await
}
#[svc::mutation]
async fn call_decimal(ctx: &Context<'_>) -> Result<Vec<Decimal>> {
    let one: Decimal = ctx.db().call("app.exact", []).await?;
    let mut many: Vec<Decimal> = ctx.db().call("app.exacts", []).await?;
    many.push(one);
    Ok(many)
}

fn sql() -> String {
    let (document, digits) = (document(), DIGITS);
    format!(
        r#"
CREATE SCHEMA app;
CREATE TABLE tb_flat (id int, exact numeric, total bigint, notes jsonb, rent jsonb);
INSERT INTO tb_flat VALUES (1, {digits}, 9007199254740993, '{document}', '{{"amount": {digits}, "extra": {document}}}');
CREATE VIEW v_flat_columns AS SELECT * FROM tb_flat;
CREATE VIEW v_flat_data AS SELECT to_jsonb(t) AS data FROM tb_flat t;
CREATE TABLE tv_flat AS SELECT id, to_json(t) AS data FROM tb_flat t;
CREATE FUNCTION app.keep(input jsonb, exact numeric, notes jsonb, ratio float8) RETURNS text LANGUAGE sql AS
  $$ SELECT concat_ws(' ', input->>'exact', input->>'ratio', input->'notes', exact, notes, ratio) $$;
CREATE FUNCTION app.flat() RETURNS jsonb LANGUAGE sql AS $$ SELECT data FROM v_flat_data $$;
CREATE FUNCTION app.flat_result() RETURNS jsonb LANGUAGE sql AS
  $$ SELECT jsonb_build_object('status', 'ok', 'entity', data, 'metadata', jsonb_build_object('notes', data->'notes'))
     FROM v_flat_data $$;
CREATE FUNCTION app.exact() RETURNS numeric LANGUAGE sql AS $$ SELECT exact FROM tb_flat $$;
CREATE FUNCTION app.exacts() RETURNS SETOF numeric LANGUAGE sql AS $$ SELECT exact FROM tb_flat $$;
"#
    )
}

const CACHED: &str = "query Cached($notes: JSON!, $exact: Decimal!) {
    data { notes exact rent { amount extra } } echoJson(value: $notes) echoDecimal(value: $exact)
}";
const CACHED_SQL: &str = r#"SELECT (SELECT jsonb_agg(data) FROM v_flat_data) AS data, $1::jsonb AS "echoJson",
    to_jsonb(ARRAY[$2::numeric]) AS "echoDecimal""#;

async fn app() -> App {
    let url = TestDatabase::shared("numbers", &sql()).await;
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            rust_endpoint: true,
            ..svc::OperationsConfig::default()
        },
        schema: svc::SchemaConfig {
            auto_camel_case: true,
            ..svc::SchemaConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new().config(config).database_url(url);
    let options = options.operations([Operation::new(CACHED).sql(CACHED_SQL)]);
    let options = options.queries(queries![
        columns,
        data,
        table,
        awaited,
        smallest,
        echo_floats,
        echo_decimal,
        echo_json,
        echo_nearest,
        echo_integers
    ]);
    App::serve(options.mutations(mutations![keep, flat, flat_result, call_flat, call_decimal]))
        .await
}

/// Sends a body as it is written, as `serde_json` would change its numbers.
async fn send(app: &App, path: &str, query: &str, variables: &str) -> Reply {
    let query = svc::serde_json::Value::from(query);
    let body = format!("{{\"query\":{query},\"variables\":{variables}}}");
    app.send(
        app.request("POST", path)
            .header("content-type", "application/json")
            .body(body),
    )
    .await
}

/// Fetches an answer with the document in the query string.
async fn get(app: &App, query: &str, variables: &str) -> Reply {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    let text = text
        .append_pair("query", query)
        .append_pair("variables", variables)
        .finish();
    app.get(&format!("/graphql?{text}")).await
}

/// `{"data":{"<field>":<json>}}`
fn answer(field: &str, json: &str) -> String {
    format!("{{\"data\":{{\"{field}\":{json}}}}}")
}
