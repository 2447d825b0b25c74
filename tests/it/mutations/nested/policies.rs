//! Row policies of the types of all tables that a mutation writes.

use serde_json::json;

use super::{KINDS, ask, done, serve, stored};

/// Policies of the types that the fields name hold for what is written, and what they hide is not
/// there.
#[tokio::test]
async fn policies_bind_rows_of_other_tables() {
    for kind in KINDS {
        let (database, app) = serve(kind, true).await;
        let created = done(
            &app,
            r#"create(input: {label: "a", owner: "ada", lines: [{sku: "ada 1"}, {sku: "ada 2"}]}) { lines }"#,
        )
        .await;
        assert_eq!(
            created,
            json!({"lines": ["1 ada 1 1", "2 ada 2 1"]}),
            "{kind}"
        );
        // A line that only Bob sees.
        database
            .execute("INSERT INTO tb_line (fk_order, sku) VALUES (100, 'bob 3')")
            .await;
        let before = stored(&database).await;
        for (code, mutation) in [
            (
                "FORBIDDEN",
                r#"create(input: {label: "b", owner: "ada", lines: [{sku: "ada"}, {sku: "bob"}]}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"create(input: {label: "b", owner: "bob", lines: [{sku: "ada"}]}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"createAll(input: [{label: "b", owner: "ada"}, {label: "c", owner: "ada", lines: [{sku: "eve"}]}]) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"change(id: 1, input: {lines: [{id: 1, sku: "bob"}]}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"put(input: {label: "a", owner: "ada", lines: [{sku: "bob"}]}) { id }"#,
            ),
            (
                "NOT_FOUND",
                r#"change(id: 1, input: {lines: [{id: 3, quantity: 2}]}) { id }"#,
            ),
            (
                "NOT_FOUND",
                r#"change(id: 1, input: {invoiceIds: [3]}) { id }"#,
            ),
            (
                "NOT_FOUND",
                r#"create(input: {label: "b", owner: "ada", invoiceIds: [3]}) { id }"#,
            ),
        ] {
            let answer = ask(&app, "ada", mutation).await;
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
            r#"create(input: {label: "b", owner: "ada", lines: [{sku: "ada"}, {sku: "bob"}]}) { id }"#,
        )
        .await;
        let message = "`input.lines[1]`: the `Line` would become one that is not allowed";
        assert_eq!(answer["errors"][0]["message"], message, "{kind}");
        let answer = ask(&app, "bob", r#"change(id: 1, input: {lines: []}) { id }"#).await;
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "NOT_FOUND",
            "{kind}: {answer}"
        );
        // What Ada cannot see stays.
        done(
            &app,
            "change(id: 1, input: {lines: [], invoiceIds: [1]}) { id }",
        )
        .await;
        let there = stored(&database).await;
        assert!(
            there.contains(r#"| (3,100,"bob 3",1) | (1,"ada 1",100)"#),
            "{kind}: {there}"
        );
    }
}
