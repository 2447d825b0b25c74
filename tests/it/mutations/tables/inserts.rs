//! Rows and lists of rows that are inserted into a table.

use serde_json::json;

use super::{KINDS, done, serve, stored};

#[tokio::test]
async fn rows_are_inserted() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        let all = r#"createProduct(input: {sku: "a", name: "A", price: "1.20", tags: ["x", "y"], details: {n: 1.10}}) { id sku name price tags details }"#;
        let expected = json!({
            "id": 1, "sku": "a", "name": "A", "price": "1.20", "tags": ["x", "y"], "details": {"n": 1.1},
        });
        assert_eq!(done(&app, all).await, expected, "{kind}");
        // What is left out is left to the table; null is null.
        let few = done(
            &app,
            r#"createProduct(input: {sku: "b", name: "B", details: null}) { price tags details }"#,
        )
        .await;
        assert_eq!(
            few,
            json!({"price": "9.50", "tags": ["none"], "details": null}),
            "{kind}"
        );
        let status = done(&app, r#"tryProduct(input: {sku: "c", name: "C"}) { ... on CreateProductSuccess { status id product { name } } }"#).await;
        assert_eq!(
            status,
            json!({"status": "created", "id": "3", "product": {"name": "C"}}),
            "{kind}"
        );
        assert_eq!(
            stored(&database).await,
            r#"1 a A 1.20 {x,y} {"n": 1.10}; 2 b B 9.50 {none}; 3 c C 9.50 {none}"#,
            "{kind}"
        );
    }
}

#[tokio::test]
async fn lists_are_inserted_by_one_statement_in_their_order() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        let items: Vec<_> = (0..300)
            .rev()
            .map(|n| format!(r#"{{sku: "s{n}", name: "n{n}"}}"#))
            .collect();
        let answer = done(
            &app,
            &format!("createProducts(input: [{}]) {{ name }}", items.join(", ")),
        )
        .await;
        let names: Vec<_> = answer
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            (0..300).rev().map(|n| format!("n{n}")).collect::<Vec<_>>(),
            "{kind}"
        );
        assert_eq!(
            database
                .statements("INSERT INTO \"app\".\"tb_product\"")
                .await,
            1,
            "{kind}"
        );
        // Items that leave out different fields, and none at all.
        let mixed = r#"createProducts(input: [{sku: "m1", name: "M", price: 2}, {sku: "m2", name: "N", tags: []}, {sku: "m3", name: "O"}]) { sku price tags }"#;
        assert_eq!(
            done(&app, mixed).await,
            json!([
                {"sku": "m1", "price": "2.00", "tags": ["none"]},
                {"sku": "m2", "price": "9.50", "tags": []},
                {"sku": "m3", "price": "9.50", "tags": ["none"]},
            ]),
            "{kind}"
        );
        assert_eq!(
            done(&app, "createProducts(input: []) { sku }").await,
            json!([]),
            "{kind}"
        );
        let result = done(&app, r#"tryProducts(input: [{sku: "r2", name: "R"}, {sku: "r1", name: "R"}]) { ... on CreateProductsSuccess { status products { sku } } }"#).await;
        assert_eq!(
            result,
            json!({"status": "created", "products": [{"sku": "r2"}, {"sku": "r1"}]}),
            "{kind}"
        );
        // All or nothing.
        let reply = app
            .query(r#"mutation { createProducts(input: [{sku: "z", name: "Z"}, {sku: "m1", name: "Z"}]) { sku } }"#)
            .await;
        assert_eq!(reply.code(), "CONFLICT", "{kind}: {}", reply.text);
        assert!(!stored(&database).await.contains(" z "), "{kind}");
    }
}
