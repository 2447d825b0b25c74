//! Rows that join, with values that break their types.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_product")]
struct Product {
    id: i32,
    #[relation(through = Placing, here = "product_id", there = "category_id", connection)]
    categories: Many<Category>,
}

#[svc_type(sql_source = "v_placing")]
struct Placing {
    position: Option<i32>,
    place: i32,
}

#[svc_type(sql_source = "v_category")]
struct Category {
    id: i32,
}

#[svc::query]
async fn product(id: i32) -> Option<Product>;

const SQL: &str = r#"
CREATE VIEW v_product AS SELECT n AS id FROM generate_series(1, 2) n;
CREATE VIEW v_category AS SELECT n AS id FROM generate_series(1, 3) n;
CREATE VIEW v_placing AS SELECT product_id, category_id, data FROM (VALUES
  (1, 1, '{"position": 2, "place": 1}'::jsonb), (1, 2, '{"position": "first", "place": 2}'),
  (1, 3, '{"position": 1, "place": "here"}'), (2, 1, '{"position": 1, "place": 1}')) AS j (product_id, category_id, data);"#;

#[tokio::test]
async fn a_bad_value_costs_its_field_alone() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(
        AppOptions::new()
            .database_url(database.url())
            .auto_camel_case(true)
            .queries(queries![product]),
    )
    .await;
    for _ in 0..3 {
        let order = "orderBy: [{edge: {position: ASC}}]";
        let rows = app
            .query(&format!(
                "{{ product(id: 1) {{ categories({order}) {{ id }} }} }}"
            ))
            .await
            .data();
        assert_eq!(
            rows["product"]["categories"],
            json!([{ "id": 3 }, { "id": 1 }, { "id": 2 }])
        );
        let page =
            format!("categoriesConnection({order}) {{ edges {{ position node {{ id }} }} }}");
        let answer = app
            .query(&format!("{{ product(id: 1) {{ {page} }} }}"))
            .await
            .json();
        let edge =
            |position: Option<i32>, id: i32| json!({ "position": position, "node": { "id": id } });
        let edges = json!([edge(Some(1), 3), edge(Some(2), 1), edge(None, 2)]);
        assert_eq!(
            answer["data"]["product"]["categoriesConnection"]["edges"], edges,
            "{answer}"
        );
        let path = json!(["product", "categoriesConnection", "edges", 2, "position"]);
        assert_eq!(
            (
                &answer["errors"][0]["path"],
                answer["errors"].as_array().unwrap().len()
            ),
            (&path, 1),
            "{answer}"
        );
        // A field that is never null takes all up to what may be.
        let answer = app
            .query("{ product(id: 1) { categoriesConnection { edges { place } } } }")
            .await
            .json();
        assert_eq!(answer["data"], json!({ "product": null }), "{answer}");
        let path = json!(["product", "categoriesConnection", "edges", 2, "place"]);
        assert_eq!(answer["errors"][0]["path"], path, "{answer}");
        let other = app
            .query(&format!("{{ product(id: 2) {{ {page} }} }}"))
            .await
            .data();
        assert_eq!(
            other["product"]["categoriesConnection"]["edges"],
            json!([edge(Some(1), 1)])
        );
    }
}
