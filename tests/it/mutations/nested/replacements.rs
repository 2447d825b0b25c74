//! Rows of other tables that updates and upserts replace.

use serde_json::{Value, json};

use super::{ALL, KINDS, ask, done, serve, stored};
use crate::mutations::contention::until_one_waits;

#[tokio::test]
async fn nested_rows_of_an_update_replace_the_stored_ones() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        let input = r#"{label: "a", invoiceIds: [1, 2], lines: [
            {sku: "x", quantity: 3, extras: [{name: "red"}, {name: "wrapped"}]}, {sku: "y"}, {sku: "z"}]}"#;
        done(&app, &format!("create(input: {input}) {{ id }}")).await;
        done(
            &app,
            r#"create(input: {label: "other", lines: [{sku: "o"}], invoiceIds: [3]}) { id }"#,
        )
        .await;
        let all = |lines: Value, invoices: Value| json!({"label": "a", "customer": null, "lines": lines, "invoices": invoices});
        // What is left out stays.
        let kept = done(&app, &format!("change(id: 1, input: {{}}) {ALL}")).await;
        let invoices = json!(["ada 1", "ada 2"]);
        assert_eq!(
            kept,
            all(
                json!(["1 x 3 1=red,2=wrapped", "2 y 1", "3 z 1"]),
                invoices.clone()
            ),
            "{kind}"
        );
        let lines = r#"[{id: 3, quantity: 5}, {sku: "n", extras: [{name: "new"}]}, {id: 1, extras: [{id: 2, name: "boxed"}, {name: "blue"}]}]"#;
        let changed = done(
            &app,
            &format!("change(id: 1, input: {{lines: {lines}, invoiceIds: [2]}}) {ALL}"),
        )
        .await;
        assert_eq!(
            (
                &changed["invoices"],
                changed["lines"].as_array().unwrap().len()
            ),
            (&json!(["ada 2"]), 3),
            "{kind}: {changed}"
        );
        let text = changed["lines"].to_string();
        for part in ["1 x 3 2=boxed,", "=blue", "3 z 5", " n 1 ", "=new"] {
            assert!(text.contains(part), "{kind}: no {part} in {text}");
        }
        // Each statement once, whatever the number of rows.
        for (statement, number) in [
            ("DELETE FROM \"tb_line\"", 1),
            ("UPDATE \"tb_line\"", 1),
            ("DELETE FROM \"tb_extra\"", 1),
        ] {
            assert_eq!(
                database.statements(statement).await,
                number,
                "{kind} {statement}"
            );
        }
        let there = stored(&database).await;
        assert!(
            there.contains("(4,101,o,1)") && there.contains(r#"(3,"bob 3",101)"#),
            "{kind}: the other order keeps its own: {there}"
        );
        // A line of another order is not there.
        let answer = ask(
            &app,
            "ada",
            &format!("change(id: 1, input: {{lines: [{{id: 4, quantity: 9}}]}}) {ALL}"),
        )
        .await;
        assert_eq!(
            answer["errors"][0]["message"], "`input.lines[0]`: there is no such `Line`",
            "{kind}: {answer}"
        );
        let new = done(
            &app,
            &format!(
                r#"change(id: 1, input: {{label: "a", customer: {{name: "Bob"}}, lines: [], invoiceIds: []}}) {ALL}"#
            ),
        )
        .await;
        assert_eq!(
            new,
            json!({"label": "a", "customer": "Bob", "lines": null, "invoices": null}),
            "{kind}"
        );
        let answer = ask(&app, "ada", "change(id: 99, input: {lines: []}) { id }").await;
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "NOT_FOUND",
            "{kind}: {answer}"
        );
    }
}

#[tokio::test]
async fn nested_rows_of_an_upsert_replace_the_stored_ones() {
    for kind in KINDS {
        let (_database, app) = serve(kind, false).await;
        let put = async |lines: &str| {
            done(
                &app,
                &format!(r#"put(input: {{label: "a", lines: {lines}}}) {ALL}"#),
            )
            .await["lines"]
                .clone()
        };
        assert_eq!(
            put(r#"[{sku: "x"}, {sku: "y"}]"#).await,
            json!(["1 x 1", "2 y 1"]),
            "{kind}"
        );
        assert_eq!(
            put(r#"[{id: 2, sku: "z"}, {sku: "n"}]"#).await,
            json!(["2 z 1", "3 n 1"]),
            "{kind}"
        );
        let both =
            r#"[{label: "b", lines: [{sku: "b"}]}, {label: "a", lines: [{id: 3, quantity: 7}]}]"#;
        let all = done(&app, &format!("putAll(input: {both}) {{ label lines }}")).await;
        assert_eq!(
            all,
            json!([{"label": "b", "lines": ["4 b 1"]}, {"label": "a", "lines": ["3 n 7"]}]),
            "{kind}"
        );
    }
}

/// Mutations that link the same rows in different orders would wait for each other.
#[tokio::test(flavor = "multi_thread")]
async fn linked_rows_are_locked_in_the_order_of_their_keys() {
    let lock = |id: i32| {
        let row = "SELECT FROM tb_invoice WHERE id = $1 FOR UPDATE NOWAIT";
        sqlx::query::<sqlx::Postgres>(row).bind(id)
    };
    let (database, app) = serve("columns", false).await;
    // Moves the row behind the others, so that a scan of the table finds it last too.
    database
        .execute("UPDATE tb_invoice SET number = number WHERE id = 1")
        .await;
    let pool = database.pool().await;
    let mut other = pool.begin().await.unwrap();
    lock(1).execute(&mut *other).await.unwrap();
    let unlock = async {
        until_one_waits(&pool).await;
        // It waits for the first row, and has not locked the second.
        lock(2).execute(&pool).await.unwrap();
        other.rollback().await.unwrap();
    };
    let create = "create(input: {label: \"a\", invoiceIds: [2, 1]}) { invoices }";
    let (created, ()) = tokio::join!(done(&app, create), unlock);
    assert_eq!(created["invoices"], json!(["ada 1", "ada 2"]));
}

/// Orders that take the rows of each other would otherwise wait for each other.
#[tokio::test(flavor = "multi_thread")]
async fn exchanged_rows_are_locked_in_the_order_of_their_keys() {
    let lock = |id: i32| {
        let row = "SELECT FROM tb_invoice WHERE id = $1 FOR UPDATE NOWAIT";
        sqlx::query::<sqlx::Postgres>(row).bind(id)
    };
    for is_governed in [false, true] {
        let (database, app) = serve("columns", is_governed).await;
        for (label, invoice) in [("a", 1), ("b", 2)] {
            let input = format!(r#"{{label: "{label}", owner: "ada", invoiceIds: [{invoice}]}}"#);
            done(&app, &format!("create(input: {input}) {{ id }}")).await;
        }

        // The second order has the second row and gets the first.
        let pool = database.pool().await;
        let mut other = pool.begin().await.unwrap();
        lock(1).execute(&mut *other).await.unwrap();
        let unlock = async {
            until_one_waits(&pool).await;
            lock(2).execute(&pool).await.unwrap();
            other.rollback().await.unwrap();
        };
        let change = "change(id: 2, input: {invoiceIds: [1]}) { invoices }";
        let (changed, ()) = tokio::join!(done(&app, change), unlock);
        assert_eq!(changed["invoices"], json!(["ada 1"]), "{is_governed}");
        pool.close().await;

        // The triggers of another kind of view would run into each other.
        database.execute("DROP FUNCTION project() CASCADE").await;
        let take = async |order: i32, invoice: i32| {
            let input = format!("{{invoiceIds: [{invoice}]}}");
            done(
                &app,
                &format!("change(id: {order}, input: {input}) {{ id }}"),
            )
            .await
        };
        for round in 0..20 {
            let (first, second) = if round % 2 == 0 { (1, 2) } else { (2, 1) };
            tokio::join!(take(1, first), take(2, second));
        }
    }
}
