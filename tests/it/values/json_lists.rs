//! Lists of JSON: their texts stay texts.

use serde_json::{Value, json};
use svc_tests::{App, TestDatabase};

macro_rules! notes {
    ($kind:ident, $view:literal) => {
        mod $kind {
            use serde_json::Value;
            use svc::prelude::*;

            #[svc_type(sql_source = $view, name = "Note")]
            pub(super) struct Note {
                id: i32,
                parts: Vec<Option<Value>>,
            }

            #[svc::query]
            async fn notes() -> Vec<Note>;
            #[svc::query]
            async fn with(parts: Vec<Value>) -> Vec<Note>;

            pub(super) fn options() -> AppOptions {
                AppOptions::new().queries(queries![notes, with])
            }
        }
    };
}

notes!(columns, "c_note");
notes!(data, "d_note");

const SQL: &str = r#"
    CREATE TABLE tb_note (id int PRIMARY KEY, parts jsonb[] NOT NULL);
    CREATE VIEW c_note AS SELECT * FROM tb_note;
    CREATE VIEW d_note AS SELECT to_jsonb(n) AS data FROM tb_note n;
    INSERT INTO tb_note VALUES (1, ARRAY['"1"', '"true"', '{"a": 1}', '"abc"', NULL]::jsonb[]),
      (2, ARRAY['1', 'true', '[2]', '1.5']::jsonb[]), (3, '{}');"#;

#[tokio::test]
async fn texts_in_lists_of_json_are_found_as_texts() {
    for (kind, options) in [("columns", columns::options()), ("data", data::options())] {
        let database = TestDatabase::copy_of("json_lists", SQL).await;
        let app = App::serve(options.database_url(database.url())).await;
        for (condition, ids) in [
            (json!({ "contains": ["1"] }), json!([1])),
            (json!({ "contains": [1] }), json!([2])),
            (json!({ "contains": ["abc", { "a": 1 }] }), json!([1])),
            (json!({ "overlaps": ["abc", [2]] }), json!([1, 2])),
            (json!({ "overlaps": ["2"] }), json!([])),
            (
                json!({ "contained_by": [1, true, [2], 1.5, "x"] }),
                json!([2, 3]),
            ),
            (json!({ "len_eq": 4, "is_empty": false }), json!([2])),
            (json!({ "is_empty": true }), json!([3])),
        ] {
            let document = "query ($where: NoteWhere) { notes(where: $where, order_by: [{ id: ASC }]) { id } }";
            let answer = app
                .query_with(document, json!({ "where": { "parts": condition } }))
                .await
                .data();
            let found: Value = answer["notes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].clone())
                .collect();
            assert_eq!(found, ids, "{kind} {condition}");
        }
        for (parts, ids) in [
            (json!(["1", "abc"]), json!([{ "id": 1 }])),
            (json!([1, [2]]), json!([{ "id": 2 }])),
        ] {
            let document = "query ($parts: [JSON!]!) { with(parts: $parts) { id } }";
            let answer = app
                .query_with(document, json!({ "parts": parts }))
                .await
                .data();
            assert_eq!(answer["with"], ids, "{kind} {parts}");
        }
    }
}
