//! Rows that are inserted unless a table has them, and then changed or kept.

use serde_json::json;

use super::{KINDS, done, serve, stored};

#[tokio::test]
async fn existing_rows_are_updated_or_kept() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        assert_eq!(
            done(
                &app,
                r#"putProduct(input: {sku: "a", name: "A", price: 1}) { id }"#
            )
            .await,
            json!({"id": 1}),
            "{kind}"
        );
        let again = done(
            &app,
            r#"putProduct(input: {sku: "a", name: "AA"}) { id name price }"#,
        )
        .await;
        assert_eq!(
            again,
            json!({"id": 1, "name": "AA", "price": "1.00"}),
            "{kind}: what is absent stays"
        );
        let kept = done(
            &app,
            r#"keepProduct(input: {sku: "a", name: "AAA"}) { id name }"#,
        )
        .await;
        assert_eq!(kept, json!({"id": 1, "name": "AA"}), "{kind}");
        let name = |sku: &str, name: &str| format!(r#"{{sku: "{sku}", name: "{name}"}}"#);
        let items = [name("b", "B"), name("a", "A1"), name("c", "C")].join(", ");
        let put = done(
            &app,
            &format!("putProducts(input: [{items}]) {{ sku name }}"),
        )
        .await;
        assert_eq!(
            put,
            json!([{"sku": "b", "name": "B"}, {"sku": "a", "name": "A1"}, {"sku": "c", "name": "C"}]),
            "{kind}"
        );
        let items = [name("d", "D"), name("a", "A2"), name("e", "E")].join(", ");
        let kept = done(
            &app,
            &format!("keepProducts(input: [{items}]) {{ sku name }}"),
        )
        .await;
        assert_eq!(
            kept,
            json!([{"sku": "d", "name": "D"}, {"sku": "a", "name": "A1"}, {"sku": "e", "name": "E"}]),
            "{kind}"
        );
        let twice = [name("f", "F"), name("f", "G")].join(", ");
        let reply = app
            .query(&format!(
                "mutation {{ putProducts(input: [{twice}]) {{ sku }} }}"
            ))
            .await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{kind}: {}", reply.text);
        assert!(!stored(&database).await.contains(" f "), "{kind}");
        // The price of the second would be that of a new row, in a row that is there.
        let uneven = r#"{sku: "g", name: "G", price: "1"}, {sku: "a", name: "A3"}"#;
        let reply = app
            .query(&format!(
                "mutation {{ putProducts(input: [{uneven}]) {{ sku }} }}"
            ))
            .await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{kind}: {}", reply.text);
        assert!(
            reply.text.contains("give the same fields in each item"),
            "{kind}: {}",
            reply.text
        );
        let kept = done(
            &app,
            &format!("keepProducts(input: [{uneven}]) {{ sku name }}"),
        )
        .await;
        assert_eq!(
            kept,
            json!([{"sku": "g", "name": "G"}, {"sku": "a", "name": "A1"}]),
            "{kind}"
        );
    }
}
