//! A database with the character set `SQL_ASCII`, which stores any bytes as texts.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, eventually};

use super::states::encoded_in;

#[svc_type(sql_source = "v_word")]
struct Word {
    id: i32,
    name: Option<String>,
    short: Option<String>,
    list: Option<Vec<String>>,
    #[relation(from = "id", to = "id")]
    documents: Many<WordDocument>,
}

#[svc_type(sql_source = "v_document")]
struct WordDocument {
    id: i32,
    name: Option<String>,
}

#[svc::query]
async fn words() -> Vec<Word>;
#[svc::query]
async fn word_pages() -> Connection<Word>;
#[svc::query]
async fn documents() -> Vec<WordDocument>;

/// The bytes 233 and 237 160 128 are not UTF-8: a character that is cut off, and a surrogate.
const SQL: &str = "
    CREATE TABLE IF NOT EXISTS tb_word (id int PRIMARY KEY, name text);
    INSERT INTO tb_word VALUES
        (1, 'one'), (2, 'caf' || chr(233)), (3, 'Jürgen €😀'), (4, chr(237) || chr(160) || chr(128))
        ON CONFLICT DO NOTHING;
    DO $$ BEGIN CREATE DOMAIN short_word AS varchar(60); EXCEPTION WHEN duplicate_object THEN NULL; END $$;
    CREATE OR REPLACE VIEW v_word AS SELECT id, name, name::short_word AS short, ARRAY[name] AS list FROM tb_word;
    CREATE OR REPLACE VIEW v_document AS SELECT jsonb_build_object('id', id, 'name', name) AS data FROM tb_word;";

async fn app() -> App {
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(encoded_in("SQL_ASCII").await)
        .setup_sql(SQL)
        .queries(queries![words, word_pages, documents]);
    App::serve(options).await
}

/// Asserts `data`, and the paths of the errors, which are not the client's.
async fn is_answered(app: &App, document: &str, data: &Value, paths: &Value) {
    let reply = app.query(document).await;
    let answer = reply.json();
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    let codes = errors.iter().map(|error| &error["extensions"]["code"]);
    for code in codes {
        assert_eq!(code, "INTERNAL_SERVER_ERROR", "{document}: {}", reply.text);
    }

    let found: Value = errors.iter().map(|error| error["path"].clone()).collect();
    assert_eq!(&answer["data"], data, "{document}: {}", reply.text);
    assert_eq!(&found, paths, "{document}: {}", reply.text);
}

#[tokio::test]
async fn a_stored_text_that_is_not_utf8_fails_only_its_field() {
    let app = app().await;
    let rows = json!([
        { "id": 1, "name": "one" },
        { "id": 2, "name": null },
        { "id": 3, "name": "Jürgen €😀" },
        { "id": 4, "name": null },
    ]);
    for field in ["words", "documents"] {
        let document = format!("{{ {field}(orderBy: [{{id: ASC}}]) {{ id name }} }}");
        let paths = json!([[field, 1, "name"], [field, 3, "name"]]);
        is_answered(&app, &document, &json!({ field: rows }), &paths).await;
    }

    is_answered(
        &app,
        "{ words(where: {id: {lte: 2}}, orderBy: [{id: ASC}]) { short list documents { id name } } }",
        &json!({ "words": [
            { "short": "one", "list": ["one"], "documents": [{ "id": 1, "name": "one" }] },
            { "short": null, "list": null, "documents": [{ "id": 2, "name": null }] },
        ] }),
        &json!([
            ["words", 1, "short"],
            ["words", 1, "list"],
            ["words", 1, "documents", 0, "name"]
        ]),
    )
    .await;

    is_answered(
        &app,
        "{ wordPages(first: 2, orderBy: [{id: ASC}]) { nodes { id name } } }",
        &json!({ "wordPages": { "nodes": [{ "id": 1, "name": "one" }, { "id": 2, "name": null }] } }),
        &json!([["wordPages", "nodes", 1, "name"]]),
    )
    .await;
}

#[tokio::test]
async fn a_database_that_checks_no_texts_is_a_hint() {
    let app = app().await;
    app.query("{ words { id } }").await.data();
    eventually(async || {
        let ready = app.get("/ready").await;
        let details = ready.json()["details"]["schema"].to_string();
        if ready.status == 200 && details.contains("SQL_ASCII, so it checks no texts") {
            Ok(())
        } else {
            Err(ready.text)
        }
    })
    .await;
}
