//! Texts whose collation takes different texts for equal.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_column")]
struct InColumn {
    id: i32,
    name: String,
}

#[svc_type(sql_source = "v_data")]
struct InData {
    id: i32,
    name: String,
}

#[svc::query]
async fn columns() -> Vec<InColumn>;
#[svc::query]
async fn data() -> Vec<InData>;

const SQL: &str = "
    CREATE COLLATION ci_ai (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
    CREATE DOMAIN name_ci AS text COLLATE ci_ai;
    CREATE TABLE tb_word (id int, name text COLLATE ci_ai, other varchar(9) COLLATE ci_ai, third name_ci);
    INSERT INTO tb_word SELECT row_number() OVER (), w, w, w FROM unnest('{Rene,reader,\"Über\",more}'::text[]) AS w;
    CREATE VIEW v_data AS SELECT id, jsonb_build_object('name', name) AS data FROM tb_word;";

/// Pattern operators do not support such a collation; they compare as in `data`.
#[tokio::test]
async fn patterns_use_the_collation_of_the_database() {
    for column in ["name", "other", "third"] {
        let database = TestDatabase::new(SQL).await;
        database
            .execute(&format!(
                "CREATE VIEW v_column AS SELECT id, {column} AS name FROM tb_word"
            ))
            .await;
        let app = App::serve(
            AppOptions::new()
                .database_url(database.url())
                .queries(queries![columns, data]),
        )
        .await;
        for (filter, expected) in [
            ("startswith: \"re\"", vec![2]),
            ("istartswith: \"re\"", vec![1, 2]),
            ("contains: \"ber\"", vec![3]),
            ("icontains: \"EN\"", vec![1]),
            ("endswith: \"re\"", vec![4]),
            ("like: \"r%\"", vec![2]),
            ("ilike: \"R%\"", vec![1, 2]),
            ("matches: \"^m\"", vec![4]),
            ("imatches: \"^M\"", vec![4]),
        ] {
            let ids: Vec<Value> = expected.iter().map(|id| json!({"id": id})).collect();
            for field in ["columns", "data"] {
                let document = format!(
                    "{{ rows: {field}(where: {{name: {{{filter}}}}}, order_by: [{{id: ASC}}]) {{ id }} }}"
                );
                let reply = app.query(&document).await;
                assert_eq!(
                    reply.data()["rows"],
                    json!(ids),
                    "{column}: {document}: {}",
                    reply.text
                );
            }
        }
        // What compares values keeps the collation of the column.
        let reply = app
            .query("{ columns(where: {name: {eq: \"RENE\"}}) { id } }")
            .await;
        assert_eq!(
            reply.data()["columns"],
            json!([{"id": 1}]),
            "{column}: {}",
            reply.text
        );
    }
}
