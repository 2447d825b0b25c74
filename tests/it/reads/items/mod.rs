//! Rows that lead to others, asked for with every argument there is, over the three kinds of views.

mod errors;
mod ordering;
mod paging;
mod shape;
mod variables;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::scalar::Hostname;
use svc_tests::{App, TestDatabase, agreed};

/// A part of a row that is stored as JSON.
#[svc_type]
struct Part {
    rank: Option<i32>,
    host: Option<Hostname>,
}

macro_rules! item {
    ($name:ident, $source:literal, $list:ident, $page:ident, $one:ident) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            small: Option<i32>,
            ratio: Option<f64>,
            price: Option<Decimal>,
            big: Option<i64>,
            word: Option<String>,
            at: Option<DateTime<Utc>>,
            part: Option<Part>,
            parent_id: Option<i32>,
            #[relation(to = "parent_id")]
            children: Many<$name>,
            #[relation(from = "parent_id")]
            parent: Option<One<$name>>,
        }

        #[svc_type]
        impl $name {
            /// Selecting it reads whole rows.
            fn says(&self, #[svc(default = 1)] times: i32) -> String {
                self.word
                    .clone()
                    .unwrap_or_default()
                    .repeat(usize::try_from(times).unwrap_or(0))
            }
        }

        #[svc::query]
        async fn $list() -> Vec<$name>;
        #[svc::query]
        async fn $page() -> Connection<$name>;
        #[svc::query]
        async fn $one(id: i32) -> Option<$name>;
    };
}

item!(ColumnItem, "c_item", c_rows, c_page, c_one);
item!(DataItem, "d_item", d_rows, d_page, d_one);
item!(TableItem, "tv_item", t_rows, t_page, t_one);

/// The beginnings of the fields of each kind of view: `Rows`, `Page` and `One` come after it. They
/// are equally long, so that errors have one place.
const ROOTS: [(&str, &str); 3] = [("c", "ColumnItem"), ("d", "DataItem"), ("t", "TableItem")];

/// Rows 1 to 5 are children of row 5. Their values fall from row 1 to row 4 and are null in row 5;
/// as texts they would have another order. Rows 6 to 30 are children of row 1. In `data`, even rows
/// lack what is null.
const SQL: &str = r#"
CREATE TABLE tb_item (id int PRIMARY KEY, small int, ratio float8, price numeric, big bigint, word text, at timestamptz,
  part jsonb, parent_id int);
INSERT INTO tb_item VALUES
  (1, 1000, 100.5, 1000000000000000000.2, 9007199254740993, 'd', '2024-01-02T00:00:00Z', '{"rank": 1000, "host": "a.example"}', 5),
  (2, 100, 100.25, 1000000000000000000.1, 9007199254740992, 'c', '2024-01-01T12:00:00Z', '{"rank": 100, "host": "b.example"}', 5),
  (3, 10, 10, 10, 10, 'b', '2023-12-31T00:00:00Z', '{"rank": 10, "host": null}', 5),
  (4, 9, 9.5, 9, 9, 'a', '999-01-01T00:00:00Z', '{"rank": 9}', 5),
  (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 5);
INSERT INTO tb_item (id, parent_id) SELECT n, 1 FROM generate_series(6, 30) n;
CREATE VIEW c_item AS SELECT *, '{}'::jsonb AS data FROM tb_item;
CREATE VIEW d_item AS SELECT CASE id % 2 WHEN 0 THEN jsonb_strip_nulls(to_jsonb(t))
  ELSE to_jsonb(t) || jsonb_build_object('price', price::text) END AS data FROM tb_item t;
CREATE TABLE tv_item AS SELECT id, small, parent_id, d.data FROM tb_item JOIN d_item d ON (d.data ->> 'id')::int = id;
"#;

async fn app() -> (App, TestDatabase) {
    let database = TestDatabase::copy_of("items", SQL).await;
    let lists = queries![
        c_rows, c_page, c_one, d_rows, d_page, d_one, t_rows, t_page, t_one
    ];
    let limits = svc::Limits {
        complexity: 10_000,
        ..svc::Limits::default()
    };
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .limits(limits);
    (App::serve(options.queries(lists)).await, database)
}

/// The numbers of rows, without anything between them.
fn ids(rows: &Value) -> String {
    let rows = rows
        .as_array()
        .unwrap_or_else(|| panic!("not a list: {rows}"));
    rows.iter().map(|row| row["id"].to_string()).collect()
}

/// Asks the three kinds the same, with the beginning of their names for `{root}`, and gives the one
/// answer they must have.
async fn same(app: &App, fields: &str) -> Value {
    let ask = async |(root, ty)| {
        let text = app
            .query(&fields.replace("{root}", root))
            .await
            .text
            .replace(ty, "Item");
        let name = |field: &str| format!("\"{root}{field}\"");
        text.replace(&name("Rows"), "\"rows\"")
            .replace(&name("Page"), "\"page\"")
            .replace(&name("One"), "\"one\"")
    };
    serde_json::from_str(&agreed(fields, ROOTS, ask).await).unwrap()
}

/// The same, of an answer without errors.
async fn same_data(app: &App, fields: &str) -> Value {
    let answer = same(app, fields).await;
    assert_eq!(answer.get("errors"), None, "{fields}: {answer:#}");
    answer["data"].clone()
}

/// Nothing that a client sees names a table or a piece of SQL.
fn assert_clean(text: &str) {
    for leak in [
        "tb_item",
        "_item",
        "SELECT",
        "select ",
        "syntax error",
        "sqlx",
        "postgres",
    ] {
        assert!(!text.contains(leak), "{leak} in {text}");
    }
}

/// The fixture is what its comment says, or the other tests prove little.
#[tokio::test]
async fn the_fixture_has_the_same_rows_in_every_view() {
    let (app, _database) = app().await;
    let rows = same_data(
        &app,
        "{ {root}Rows(limit: 100) { id small ratio price big word at part { rank } parentId } }",
    )
    .await;
    let rows = rows["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 30);
    assert_eq!(
        rows[4],
        json!({ "id": 5, "small": null, "ratio": null, "price": null, "big": null, "word": null,
        "at": null, "part": null, "parentId": 5 })
    );
}
