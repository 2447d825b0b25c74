//! Rows of a table that are updated and deleted.

use serde_json::{Value, json};

use super::{KINDS, done, serve, stored};

#[tokio::test]
async fn rows_are_updated() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        done(
            &app,
            r#"createProducts(input: [{sku: "a", name: "A", price: 1}, {sku: "b", name: "B", price: 2}]) { id }"#,
        )
        .await;
        let renamed = done(
            &app,
            r#"updateProduct(id: 1, input: {name: "AA"}) { name price }"#,
        )
        .await;
        assert_eq!(
            renamed,
            json!({"name": "AA", "price": "1.00"}),
            "{kind}: what is absent stays"
        );
        let by_sku = r#"renameSku(sku: "b", input: {name: "BB", price: "3.5"}) { ... on CreateProductSuccess { status updatedFields product { id name } } }"#;
        assert_eq!(
            done(&app, by_sku).await,
            json!({"status": "updated", "updatedFields": ["name", "price"], "product": {"id": 2, "name": "BB"}}),
            "{kind}"
        );
        assert_eq!(
            done(&app, "updateProduct(id: 2, input: {}) { name }").await,
            json!({"name": "BB"}),
            "{kind}"
        );
        let reply = app
            .query(r#"mutation { updateProduct(id: 9, input: {name: "C"}) { name } }"#)
            .await;
        assert_eq!(
            (
                reply.code().as_str(),
                reply.json()["data"]["updateProduct"].clone()
            ),
            ("NOT_FOUND", Value::Null),
            "{kind}"
        );
        let missing =
            done(&app, r#"renameSku(sku: "c", input: {name: "C"}) { ... on CreateProductError { code message } }"#)
                .await;
        assert_eq!(
            missing,
            json!({"code": 404, "message": "there is no such `Product`"}),
            "{kind}"
        );
        let reply = app
            .query("mutation { updateProduct(id: 1, input: {price: null}) { name } }")
            .await;
        assert_eq!(
            reply.json()["errors"][0]["extensions"]["mutation"],
            "NOT_DONE",
            "{kind}: null is null: {}",
            reply.text
        );
        assert_eq!(
            stored(&database).await,
            "1 a AA 1.00 {none}; 2 b BB 3.50 {none}",
            "{kind}"
        );
    }
}

#[tokio::test]
async fn a_deleted_row_is_returned_as_it_was() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        done(&app, r#"createProducts(input: [{sku: "a", name: "A", price: 1}, {sku: "b", name: "B"}, {sku: "c", name: "C"}]) { id }"#).await;
        assert_eq!(
            done(&app, "deleteProduct(id: 1) { sku name price }").await,
            json!({"sku": "a", "name": "A", "price": "1.00"}),
            "{kind}"
        );
        let reply = app.query("mutation { deleteProduct(id: 1) { sku } }").await;
        assert_eq!(reply.code(), "NOT_FOUND", "{kind}: {}", reply.text);
        // Two rows have this price, and one is deleted or none.
        let reply = app
            .query("mutation { deletePriced(price: \"9.50\") { sku } }")
            .await;
        assert_eq!(
            reply.code(),
            "INTERNAL_SERVER_ERROR",
            "{kind}: {}",
            reply.text
        );
        assert_eq!(
            stored(&database).await,
            "2 b B 9.50 {none}; 3 c C 9.50 {none}",
            "{kind}"
        );
    }
}
