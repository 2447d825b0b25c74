//! Messages quote neither what is stored nor what the database calls its things.

use serde_json::{Value, json};
use svc::Operation;
use svc::prelude::*;
use svc::scalar::EmailAddress;
use svc_tests::{App, TestDatabase};

#[svc_enum]
enum Level {
    Low,
    High,
}

#[svc_type]
struct Home {
    city: String,
}

#[svc_type]
struct Cat {
    id: i32,
    name: String,
}

#[svc_type]
struct Dog {
    id: i32,
}

#[svc_union(sql_source = "v_being")]
enum Being {
    Cat(Cat),
    Dog(Dog),
}

/// Each field's stored value breaks its type.
#[svc_type(sql_source = "v_broken")]
struct Broken {
    id: i32,
    level: Option<Level>,
    number: Option<i32>,
    big: Option<i64>,
    float: Option<f64>,
    flag: Option<bool>,
    uuid: Option<Uuid>,
    at: Option<DateTime<Utc>>,
    day: Option<NaiveDate>,
    price: Option<Decimal>,
    email: Option<EmailAddress>,
    home: Option<Home>,
    tags: Option<Vec<String>>,
    text: Option<String>,
    #[relation(from = "id", to = "id")]
    same: Many<Broken>,
}

const FIELDS: [&str; 13] = [
    "level",
    "number",
    "big",
    "float",
    "flag",
    "uuid",
    "at",
    "day",
    "price",
    "email",
    "home { city }",
    "tags",
    "text",
];

#[svc::query]
async fn broken() -> Vec<Broken>;
#[svc::query]
async fn one() -> Option<Broken>;
#[svc::query]
async fn pages() -> Connection<Broken>;
#[svc::query]
async fn beings() -> Vec<Being>;
#[svc::query]
async fn typed(ctx: &Context<'_>) -> Result<Vec<Broken>> {
    ctx.db().find::<Broken>().await
}
#[svc::mutation(function = "fn_note")]
async fn note(text: String) -> bool;
#[svc::mutation(function = "fn_broken")]
async fn answer() -> Option<Broken>;

const SQL: &str = r#"
CREATE VIEW v_broken AS SELECT 1 AS id, jsonb_build_object('id', 1, 'level', 's3cret', 'number', 's3cret', 'big', 's3cret',
    'float', 's3cret', 'flag', 's3cret', 'uuid', 's3cret', 'at', 's3cret', 'day', 's3cret', 'price', 's3cret',
    'email', 's3cret', 'home', 's3cret', 'tags', 's3cret', 'text', '{"s3cret": 1}'::jsonb) AS data;
CREATE VIEW v_level AS SELECT 's3cret' AS level;
CREATE VIEW v_being AS SELECT 1 AS id, '{"id": 1, "name": "x", "__typename": "s3cret"}'::jsonb AS data;
CREATE FUNCTION fn_broken() RETURNS jsonb LANGUAGE sql AS 'SELECT data FROM v_broken';
CREATE TYPE tb_mood AS ENUM ('good');
CREATE TABLE tb_note (text text);
CREATE UNIQUE INDEX tb_note_index ON tb_note (text);
CREATE FUNCTION fn_note(text text) RETURNS bool LANGUAGE sql
    AS $$ INSERT INTO tb_note VALUES ((SELECT string_agg(md5(text || i), '') FROM generate_series(1, 300) i)) RETURNING true $$;"#;

async fn app() -> App {
    let database = TestDatabase::new(SQL).await;
    let registered = FIELDS.map(|field| {
        let name = field.split(' ').next().unwrap();
        Operation::new(format!("query Cached_{name} {{ one {{ {field} }} }}"))
            .sql("SELECT data AS one FROM v_broken")
    });
    let mood =
        Operation::new("query Mood($mood: String!) { one { id } found: broken(where: {text: {eq: $mood}}) { id } }")
            .sql("SELECT NULL::jsonb AS one, to_jsonb(ARRAY[]::int[]) AS found WHERE $1::tb_mood IS NOT NULL");
    let options = AppOptions::new()
        .database_url(database.url())
        .operations(registered)
        .operations([mood]);
    App::serve(
        options
            .queries(queries![broken, one, pages, beings, typed])
            .mutations(mutations![note, answer]),
    )
    .await
}

#[tokio::test]
async fn invalid_stored_values_are_not_quoted_in_errors() {
    let app = app().await;
    for field in FIELDS {
        let name = field.split(' ').next().unwrap();
        for query in [
            format!("{{ broken {{ {field} }} }}"),
            format!("{{ one {{ {field} }} }}"),
            format!("{{ pages {{ nodes {{ {field} }} }} }}"),
            format!("{{ one {{ same {{ {field} }} }} }}"),
            format!("{{ typed {{ {field} }} }}"),
            format!("mutation {{ answer {{ {field} }} }}"),
        ] {
            assert_error_omits_the_value(&app.query(&query).await.text, &query);
        }
        let cached = app
            .post(&json!({ "documentId": format!("Cached_{name}") }))
            .await;
        assert_error_omits_the_value(&cached.text, name);
    }
    assert_error_omits_the_value(
        &app.query("{ beings { ... on Cat { name } ... on Dog { id } } }")
            .await
            .text,
        "an interface",
    );
}

fn assert_error_omits_the_value(text: &str, what: &str) {
    let answer: Value = serde_json::from_str(text).unwrap();
    assert!(!answer["errors"][0]["path"].is_null(), "{what}: {text}");
    assert!(!text.contains("s3cret"), "{what}: {text}");
}

#[tokio::test]
async fn an_oversized_index_value_does_not_reveal_the_table_name() {
    let app = app().await;
    let reply = app.query(r#"mutation { note(text: "long") }"#).await;
    assert_eq!(
        (reply.code(), reply.message()),
        (
            "BAD_USER_INPUT".to_owned(),
            "a value is too long or too complex for the database".to_owned(),
        )
    );
    assert!(!reply.text.contains("tb_note"), "{}", reply.text);
}

#[tokio::test]
async fn an_invalid_enum_variable_does_not_reveal_its_database_type() {
    let app = app().await;
    let reply = app
        .post(&json!({ "documentId": "Mood", "variables": { "mood": "bad" } }))
        .await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    assert_eq!(
        reply.message(),
        "variable `$mood`: is not one of the enum's values"
    );
    assert!(!reply.text.contains("tb_mood"), "{}", reply.text);
}
