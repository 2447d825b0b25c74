//! A service over notes of several tenants.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Operation, OperationsConfig};
use svc_tests::{App, TestDatabase};

const TABLE: &str = "CREATE TABLE tb_note (id int PRIMARY KEY, tenant text, title text);
    INSERT INTO tb_note VALUES (1, 'a', 'one'), (2, 'b', 'two'), (3, 'a', 'three'), (4, NULL, 'four');
    CREATE VIEW v_note AS SELECT * FROM tb_note;
    CREATE SCHEMA app;
    CREATE FUNCTION app.rename(note_id int, title text) RETURNS int LANGUAGE sql AS
    'UPDATE tb_note SET title = $2 WHERE id = $1 RETURNING id';";

#[svc_type(sql_source = "v_note")]
pub(super) struct Note {
    pub(super) id: i32,
    tenant: Option<String>,
    title: String,
}

#[svc::query]
async fn notes() -> Vec<Note>;
#[svc::query]
async fn note(id: i32) -> Option<Note>;
#[svc::query]
async fn statistics() -> Aggregate<Note>;
#[svc::query]
fn hello() -> &'static str {
    "world"
}
/// A scope that the service sets itself.
#[svc::query]
async fn scoped(ctx: &Context<'_>) -> Result<Find<Note>> {
    Ok(ctx.db().scoped("tenant", "a").find::<Note>())
}
#[svc::query]
async fn scoped_count(ctx: &Context<'_>) -> Result<Vec<Note>> {
    ctx.db().scoped("tenant", "a").find::<Note>().await
}
#[svc::mutation(function = "app.rename")]
async fn rename(note_id: i32, title: String) -> Option<i32>;

/// An operation that is answered by its SQL.
pub(super) const CACHED: &str = "query Cached { notes { id } }";

/// A database with the notes.
pub(super) async fn database() -> TestDatabase {
    TestDatabase::copy_of("authz", TABLE).await
}

/// The options of the service, without an authorizer.
pub(super) fn options(database: &TestDatabase) -> AppOptions {
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let config = SvcConfig {
        operations,
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![
            notes,
            note,
            statistics,
            hello,
            scoped,
            scoped_count
        ])
        .mutations(mutations![rename])
        .operations([
            Operation::new(CACHED).sql("SELECT jsonb_agg(v_note ORDER BY id) AS notes FROM v_note")
        ])
}

/// The answer of the native endpoint.
pub(super) async fn ask_rust(app: &App, query: &str) -> Value {
    let request = app
        .request("POST", "/graphql/rust")
        .header("content-type", "application/json");
    app.send(request.body(json!({ "query": query }).to_string()))
        .await
        .json()
}

/// The codes of the errors of an answer.
pub(super) fn codes(answer: &Value) -> Vec<&str> {
    let errors = answer["errors"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    errors
        .iter()
        .filter_map(|error| error["extensions"]["code"].as_str())
        .collect()
}
