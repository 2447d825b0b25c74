//! Row policies of what is written to a table.

use serde_json::{Value, json};
use svc_tests::App;

use super::{KINDS, serve, stored};

async fn ask(app: &App, user: &str, query: &str) -> Value {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    app.send(
        request
            .header("x-user", user)
            .body(json!({ "query": query }).to_string()),
    )
    .await
    .json()
}

/// Each denial is an error, and leaves everything as it was.
#[tokio::test]
async fn row_policies_bind_written_rows() {
    for kind in KINDS {
        let (database, app) = serve(kind, true).await;
        let created = ask(
            &app,
            "ada",
            r#"mutation { createProducts(input: [{sku: "a", name: "ada 1"}, {sku: "b", name: "ada 2"}]) { name } }"#,
        )
        .await;
        assert_eq!(
            created,
            json!({"data": {"createProducts": [{"name": "ada 1"}, {"name": "ada 2"}]}}),
            "{kind}"
        );
        ask(
            &app,
            "bob",
            r#"mutation { createProduct(input: {sku: "x", name: "bob"}) { id } }"#,
        )
        .await;
        let before = stored(&database).await;
        for (code, mutation) in [
            (
                "FORBIDDEN",
                r#"createProduct(input: {sku: "c", name: "eve"}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"createProducts(input: [{sku: "c", name: "ada"}, {sku: "d", name: "eve"}]) { id }"#,
            ),
            (
                "NOT_FOUND",
                r#"updateProduct(id: 3, input: {name: "ada"}) { id }"#,
            ),
            ("NOT_FOUND", r#"updateProduct(id: 3, input: {}) { id }"#),
            (
                "FORBIDDEN",
                r#"updateProduct(id: 1, input: {name: "bob"}) { id }"#,
            ),
            ("NOT_FOUND", "deleteProduct(id: 3) { id }"),
            (
                "FORBIDDEN",
                r#"putProduct(input: {sku: "x", name: "ada"}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"putProduct(input: {sku: "a", name: "bob"}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"keepProduct(input: {sku: "x", name: "ada"}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"putProducts(input: [{sku: "n", name: "ada"}, {sku: "x", name: "ada"}]) { id }"#,
            ),
        ] {
            let answer = ask(&app, "ada", &format!("mutation {{ {mutation} }}")).await;
            let extensions = &answer["errors"][0]["extensions"];
            assert_eq!(
                (&extensions["code"], &extensions["mutation"]),
                (&json!(code), &json!("NOT_DONE")),
                "{kind} {mutation}: {answer}"
            );
            assert_eq!(stored(&database).await, before, "{kind} {mutation}");
        }
        let answer = ask(
            &app,
            "ada",
            r#"mutation { tryProduct(input: {sku: "c", name: "eve"}) { ... on CreateProductError { code } } }"#,
        )
        .await;
        assert_eq!(
            answer,
            json!({"data": {"tryProduct": {"code": 403}}}),
            "{kind}"
        );
        for mutation in [
            r#"updateProduct(id: 1, input: {name: "ada 3"}) { name }"#,
            r#"putProduct(input: {sku: "a", name: "ada 3"}) { name }"#,
            r#"keepProduct(input: {sku: "a", name: "ada 4"}) { name }"#,
            "deleteProduct(id: 1) { name }",
        ] {
            let answer = ask(&app, "ada", &format!("mutation {{ answer: {mutation} }}")).await;
            assert_eq!(
                answer,
                json!({"data": {"answer": {"name": "ada 3"}}}),
                "{kind} {mutation}"
            );
        }
    }
}
