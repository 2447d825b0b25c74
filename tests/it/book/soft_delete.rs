//! Rows that clients delete, and nobody sees any more.

use serde_json::json;
use svc::Constraint;
use svc::prelude::*;

use super::serve;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
    sku: String,
    name: String,
}

#[svc_type(sql_source = "v_deleted_product")]
struct DeletedProduct {
    id: Uuid,
    sku: String,
    deleted_at: DateTime<Utc>,
}

#[svc_result]
enum DeleteProductResult {
    Success,
    Error,
}

#[svc_result]
enum RestoreProductResult {
    Success { product: Product },
    Error,
}

#[svc::query]
async fn products() -> Vec<Product>;

#[svc::query(order_by = "-deleted_at")]
async fn deleted_products() -> Vec<DeletedProduct>;

#[svc::mutation(function = "app.delete_product")]
async fn delete_product(id: Uuid) -> DeleteProductResult;

#[svc::mutation(function = "app.restore_product")]
async fn restore_product(id: Uuid) -> RestoreProductResult;

fn with_products(options: AppOptions) -> AppOptions {
    options
        .queries(queries![products, deleted_products])
        .mutations(mutations![delete_product, restore_product])
        .constraint(
            Constraint::new("tb_product_sku", "another product has this number").field("sku"),
        )
}

#[tokio::test]
async fn a_soft_deleted_row_can_be_restored() {
    let rows = "INSERT INTO tb_product (sku, name) VALUES ('1', 'Mug'), ('2', 'Cup');";
    let (app, database) = serve("soft delete", rows, with_products).await;
    let found = app
        .query("{ products(orderBy: [{ sku: ASC }]) { id } }")
        .await
        .data();
    let mug = &found["products"][0]["id"];
    let delete = format!(
        "mutation {{ deleteProduct(id: {mug}) {{ ... on DeleteProductSuccess {{ status id }} ... on DeleteProductError {{ code }} }} }}"
    );
    let deleted = app.query(&delete).await.data();
    assert_eq!(
        deleted["deleteProduct"],
        json!({ "status": "deleted", "id": mug })
    );
    assert_eq!(
        app.query(&delete).await.data()["deleteProduct"],
        json!({ "code": 404 })
    );
    let left = app
        .query("{ products { name } deletedProducts { id } }")
        .await
        .data();
    assert_eq!(
        left,
        json!({ "products": [{ "name": "Cup" }], "deletedProducts": [{ "id": mug }] })
    );
    let restore = format!(
        "mutation {{ restoreProduct(id: {mug}) {{ ... on RestoreProductSuccess {{ product {{ name }} }} ... on RestoreProductError {{ errors {{ code message details }} }} }} }}"
    );
    database
        .execute("INSERT INTO tb_product (sku, name) VALUES ('1', 'New mug')")
        .await;
    let refused = app.query(&restore).await.data();
    let error = json!({ "code": 409, "message": "another product has this number", "details": { "field": "sku" } });
    assert_eq!(refused["restoreProduct"]["errors"], json!([error]));
    database
        .execute("DELETE FROM tb_product WHERE name = 'New mug'")
        .await;
    assert_eq!(
        app.query(&restore).await.data()["restoreProduct"],
        json!({ "product": { "name": "Mug" } })
    );
}
