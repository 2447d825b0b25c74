//! Values that the columns and constraints of a table refuse.

use serde_json::json;

use super::{KINDS, done, serve, stored};

#[tokio::test]
async fn values_too_large_for_a_column_are_client_errors() {
    let (database, app) = serve(KINDS[0], false).await;
    for (write, what) in [
        (
            r#"createProduct(input: {sku: "a", name: "A", price: "100000000"}) { id }"#,
            "number",
        ),
        (
            r#"createProducts(input: [{sku: "a", name: "A"}, {sku: "b", name: "B", price: "1000000000"}]) { id }"#,
            "list",
        ),
        (
            r#"createProduct(input: {sku: "123456789012345678901", name: "A"}) { id }"#,
            "text",
        ),
        (
            r#"putProduct(input: {sku: "123456789012345678901", name: "A"}) { id }"#,
            "upsert",
        ),
    ] {
        let reply = app.query(&format!("mutation {{ {write} }}")).await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{what}: {}", reply.text);
        assert_eq!(
            reply.message(),
            "a value of the `Product` is too long or too large for its column",
            "{what}"
        );
        let extensions = &reply.json()["errors"][0]["extensions"];
        assert_eq!(
            extensions["status"], "validation:out_of_range",
            "{what}: {extensions}"
        );
        assert_eq!(extensions["mutation"], "NOT_DONE", "{what}: {extensions}");
    }
    assert_eq!(stored(&database).await, "");
}

#[tokio::test]
async fn violated_constraints_are_reported() {
    let (database, app) = serve("columns", false).await;
    done(
        &app,
        r#"createProduct(input: {sku: "a", name: "A"}) { id }"#,
    )
    .await;
    let error = r#"... on CreateProductError { code status errors { identifier details } }"#;
    let taken = done(
        &app,
        &format!(r#"tryProduct(input: {{sku: "a", name: "B"}}) {{ {error} }}"#),
    )
    .await;
    let errors = json!([{"identifier": "sku_taken", "details": {"field": "sku"}}]);
    assert_eq!(
        taken,
        json!({"code": 409, "status": "conflict:sku_taken", "errors": errors})
    );
    let bad = done(
        &app,
        &format!(r#"tryProduct(input: {{sku: "b", name: "bad"}}) {{ {error} }}"#),
    )
    .await;
    assert_eq!(bad["code"], 422);
    let reply = app
        .query(r#"mutation { createProduct(input: {sku: "a", name: "B"}) { id } }"#)
        .await;
    assert_eq!(
        (reply.code().as_str(), reply.message().as_str()),
        ("CONFLICT", "this sku is taken")
    );
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["mutation"],
        "NOT_DONE"
    );
    let long = "x".repeat(30);
    let reply = app
        .query(&format!(
            r#"mutation {{ createProduct(input: {{sku: "{long}", name: "B"}}) {{ id }} }}"#
        ))
        .await;
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["mutation"],
        "NOT_DONE",
        "no value is cut: {}",
        reply.text
    );
    assert_eq!(stored(&database).await, "1 a A 9.50 {none}");
}
