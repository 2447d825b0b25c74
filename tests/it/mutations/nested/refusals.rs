//! Rows of several tables that are refused: nothing is written, and the error names the place.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{ALL, KINDS, SQL, ask, columns, done, serve, stored};

#[tokio::test]
async fn a_refused_nested_row_writes_nothing_and_is_named_by_its_path() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        let before = stored(&database).await;
        let path = |answer: &Value| {
            answer["errors"][0]["extensions"]["errors"][0]["details"]["path"].clone()
        };
        for (input, expected, code) in [
            (
                r#"{label: "a", lines: [{sku: "x"}, {quantity: 2}]}"#,
                json!("input.lines[1].sku"),
                "BAD_USER_INPUT",
            ),
            (
                r#"{label: "a", lines: [{sku: "x", quantity: 0}]}"#,
                json!("input.lines[0]"),
                "BAD_USER_INPUT",
            ),
            (
                r#"{label: "a", lines: [{sku: "x", quantity: 0}, {sku: "y"}]}"#,
                json!("input.lines"),
                "BAD_USER_INPUT",
            ),
            (
                r#"{label: "a", lines: [{sku: "x"}, {sku: "y", extras: [{name: "bad"}]}]}"#,
                json!("input.lines[1].extras[0]"),
                "BAD_USER_INPUT",
            ),
        ] {
            let answer = ask(&app, "ada", &format!("create(input: {input}) {ALL}")).await;
            let extensions = &answer["errors"][0]["extensions"];
            assert_eq!(
                (&extensions["code"], &extensions["mutation"]),
                (&json!(code), &json!("NOT_DONE")),
                "{answer}"
            );
            assert_eq!(path(&answer), expected, "{kind}: {answer}");
            assert_eq!(stored(&database).await, before, "{kind}");
        }
        for (mutation, code, message) in [
            (
                r#"create(input: {label: "a", customerId: 1, customer: {name: "Eve"}})"#,
                "BAD_USER_INPUT",
                "`input`: give `customer` or `customerId`, not both",
            ),
            (
                r#"createAll(input: [{label: "a"}, {label: "b", invoiceIds: [1, 77]}])"#,
                "NOT_FOUND",
                "`input[1].invoiceIds[1]`: there is no such `Invoice`",
            ),
            (
                r#"createAll(input: [{label: "a", invoiceIds: [1]}, {label: "b", invoiceIds: [1]}])"#,
                "BAD_USER_INPUT",
                "`input[1].invoiceIds[0]`: the same `Invoice` is given before; give each once",
            ),
        ] {
            let answer = ask(&app, "ada", &format!("{mutation} {ALL}")).await;
            let error = &answer["errors"][0];
            assert_eq!(
                (&error["extensions"]["code"], &error["message"]),
                (&json!(code), &json!(message)),
                "{kind}: {answer}"
            );
            assert_eq!(stored(&database).await, before, "{kind}");
        }
    }
}

#[tokio::test]
async fn rows_of_nested_tables_count_towards_the_limit() {
    let database = TestDatabase::copy_of("nested", SQL).await;
    let config = SvcConfig {
        limits: svc::Limits {
            max_page: 5,
            default_page: 5,
            ..svc::Limits::default()
        },
        ..SvcConfig::default()
    };
    let app = App::serve(
        columns::options()
            .config(config)
            .database_url(database.url())
            .auto_camel_case(true),
    )
    .await;
    let line = r#"{sku: "x", extras: [{name: "e"}]}"#;
    done(
        &app,
        &format!(r#"create(input: {{label: "a", lines: [{line}, {line}]}}) {{ id }}"#),
    )
    .await;
    let answer = ask(
        &app,
        "ada",
        &format!(r#"create(input: {{label: "b", lines: [{line}, {line}], customer: {{name: "c"}}}}) {{ id }}"#),
    )
    .await;
    assert_eq!(
        answer["errors"][0]["message"], "6 rows are given, and at most 5 can be written at once",
        "{answer}"
    );
}
