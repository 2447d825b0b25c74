//! Rows of several tables that are inserted at once.

use serde_json::json;

use super::{ALL, KINDS, done, serve};

#[tokio::test]
async fn three_levels_are_inserted() {
    for kind in KINDS {
        let (_database, app) = serve(kind, false).await;
        let input = r#"{label: "a", customer: {name: "Bob"}, invoiceIds: [2, 1], lines: [
            {sku: "x", quantity: 3, extras: [{name: "red"}, {name: "wrapped"}]}, {sku: "y"}, {sku: "z", extras: [{name: "blue"}]}]}"#;
        let created = done(&app, &format!("create(input: {input}) {ALL}")).await;
        assert_eq!(
            created,
            json!({
                "label": "a", "customer": "Bob", "invoices": ["ada 1", "ada 2"],
                "lines": ["1 x 3 1=red,2=wrapped", "2 y 1", "3 z 1 3=blue"],
            }),
            "{kind}"
        );
        // An existing customer, and nothing else.
        let plain = done(
            &app,
            &format!(r#"create(input: {{label: "b", customerId: 1, lines: []}}) {ALL}"#),
        )
        .await;
        assert_eq!(
            plain,
            json!({"label": "b", "customer": "Ada", "lines": null, "invoices": null}),
            "{kind}"
        );
        let result = done(
            &app,
            r#"attempt(input: {label: "c", lines: [{sku: "w"}]}) { ... on OrderSuccess { status order { lines } } }"#,
        )
        .await;
        assert_eq!(
            result,
            json!({"status": "created", "order": {"lines": ["4 w 1"]}}),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn lists_of_lists_are_one_statement_for_each_level() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        let order = |n: i32| {
            let line = |m: i32| {
                format!(
                    r#"{{sku: "s{n}{m}", extras: [{{name: "e{n}{m}a"}}, {{name: "e{n}{m}b"}}]}}"#
                )
            };
            let lines: Vec<_> = (0..n % 4).map(line).collect();
            format!(
                r#"{{label: "o{n}", customer: {{name: "c{n}"}}, lines: [{}]}}"#,
                lines.join(", ")
            )
        };
        let orders: Vec<_> = (1..=12).map(order).collect();
        let created = done(
            &app,
            &format!("createAll(input: [{}]) {ALL}", orders.join(", ")),
        )
        .await;
        for (n, order) in (1..=12).zip(created.as_array().unwrap()) {
            assert_eq!(
                (&order["label"], &order["customer"]),
                (&json!(format!("o{n}")), &json!(format!("c{n}"))),
                "{kind}"
            );
            let lines = order["lines"].as_array().map(Vec::len).unwrap_or_default();
            assert_eq!(lines, n % 4, "{kind}: {order}");
            for line in order["lines"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|line| line.as_str().unwrap())
            {
                let sku = line.split(' ').nth(1).unwrap();
                let extras = line
                    .split(' ')
                    .nth(3)
                    .unwrap()
                    .split(',')
                    .map(|extra| extra.split('=').nth(1).unwrap());
                let own = sku.trim_start_matches('s');
                assert_eq!(
                    extras.collect::<Vec<_>>(),
                    [format!("e{own}a"), format!("e{own}b")],
                    "{kind}: {order}"
                );
                assert!(sku.starts_with(&format!("s{n}")), "{kind}: {order}");
            }
        }
        for table in ["tb_customer", "tb_order", "tb_line", "tb_extra"] {
            assert_eq!(
                database
                    .statements(&format!("INSERT INTO \"{table}\""))
                    .await,
                1,
                "{kind} {table}"
            );
        }
    }
}
