//! Lists of items that give different fields.

use std::time::Duration;

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};
use tokio::time::timeout;

#[svc_input]
struct NewNote {
    title: Option<String>,
    body: Option<String>,
}

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    title: String,
    body: String,
}

#[svc::query]
async fn notes() -> Vec<Note>;
#[svc::mutation(insert = "tb_note")]
async fn create_notes(input: Vec<NewNote>) -> Vec<Note>;

const SQL: &str = "
CREATE TABLE tb_note (
    id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, title text NOT NULL DEFAULT 'untitled', body text NOT NULL DEFAULT '');
CREATE VIEW v_note AS SELECT * FROM tb_note;";

const CREATE: &str =
    "mutation ($input: [NewNote!]!) { createNotes(input: $input) { id title body } }";

async fn app() -> (App, TestDatabase) {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    (
        App::serve(
            options
                .queries(queries![notes])
                .mutations(mutations![create_notes]),
        )
        .await,
        database,
    )
}

#[tokio::test]
async fn fields_omitted_by_an_item_have_their_column_default() {
    let (app, database) = app().await;
    let input = json!([{}, { "title": "a" }, { "body": "b" }, {}, { "title": "c", "body": "d" }]);
    let rows = app
        .query_with(CREATE, json!({ "input": input }))
        .await
        .data();
    assert_eq!(
        rows["createNotes"],
        json!([
            { "id": 1, "title": "untitled", "body": "" },
            { "id": 2, "title": "a", "body": "" },
            { "id": 3, "title": "untitled", "body": "b" },
            { "id": 4, "title": "untitled", "body": "" },
            { "id": 5, "title": "c", "body": "d" },
        ])
    );
    assert_eq!(database.statements("INSERT INTO \"tb_note\"").await, 1);
}

/// PostgreSQL reads a document again for each value that is taken from it, without looking at the
/// time-out meanwhile.
#[tokio::test]
async fn a_long_list_takes_time_that_grows_with_its_length() {
    let (app, database) = app().await;
    let item = |n: usize| match n {
        0 => json!({ "body": "b".repeat(800) }),
        _ => json!({ "title": n.to_string(), "body": "b".repeat(800) }),
    };
    let input: Vec<Value> = (0..900).map(item).collect();
    let reply = app.query_with(CREATE, json!({ "input": input }));
    let rows = timeout(Duration::from_secs(20), reply)
        .await
        .expect("an answer")
        .data()["createNotes"]
        .take();
    assert_eq!(
        (&rows[0]["title"], &rows[899]["title"]),
        (&json!("untitled"), &json!("899"))
    );
    assert_eq!(database.statements("INSERT INTO \"tb_note\"").await, 1);
}
