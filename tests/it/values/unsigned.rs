//! `u64` beyond what a signed integer holds.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

macro_rules! counter {
    ($name:ident, $source:literal, $list:ident, $totals:ident) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            seen: u64,
        }

        #[svc_type]
        impl $name {
            /// Selecting it reads whole rows.
            fn again(&self) -> u64 {
                self.seen
            }
        }

        #[svc::query]
        async fn $list() -> Vec<$name>;
        #[svc::query]
        async fn $totals() -> Aggregate<$name>;
    };
}

counter!(ColumnCounter, "c_counter", columns, column_totals);
counter!(DataCounter, "d_counter", data, data_totals);
counter!(TableCounter, "tv_counter", table, table_totals);

#[svc::query]
fn echo(seen: u64) -> u64 {
    seen
}

async fn app() -> App {
    let sql = format!(
        "CREATE TABLE tb_counter (id int, seen numeric(20));
         INSERT INTO tb_counter VALUES (1, 7), (2, 9223372036854775807), (3, 9223372036854775808), (4, 18446744073709551615);
         {}",
        three_views("counter", "id, seen")
    );
    let url = TestDatabase::shared("unsigned", &sql).await;
    let queries = queries![
        columns,
        data,
        table,
        column_totals,
        data_totals,
        table_totals,
        echo
    ];
    App::serve(
        AppOptions::new()
            .database_url(url)
            .auto_camel_case(true)
            .queries(queries),
    )
    .await
}

const MAX_U64: &str = "18446744073709551615";

#[tokio::test]
async fn all_values_are_read_and_found() {
    let app = app().await;
    let rows = app
        .same("(orderBy: [{seen: DESC}])", "{ seen again }")
        .await;
    let values = [
        json!(MAX_U64),
        json!("9223372036854775808"),
        json!("9223372036854775807"),
        json!(7),
    ];
    let expected: Value = values
        .iter()
        .map(|value| json!({ "seen": value, "again": value }))
        .collect();
    assert_eq!(rows, expected);
    for (condition, expected) in [
        (format!("eq: {MAX_U64}"), json!([{ "id": 4 }])),
        (format!("eq: \"{MAX_U64}\""), json!([{ "id": 4 }])),
        (
            "gt: 9223372036854775807".to_owned(),
            json!([{ "id": 3 }, { "id": 4 }]),
        ),
        (
            format!("in: [7, {MAX_U64}]"),
            json!([{ "id": 1 }, { "id": 4 }]),
        ),
    ] {
        let arguments = format!("(where: {{seen: {{{condition}}}}}, orderBy: [{{id: ASC}}])");
        assert_eq!(
            app.same(&arguments, "{ id }").await,
            expected,
            "{condition}"
        );
    }
}

#[tokio::test]
async fn the_largest_value_is_an_argument_and_an_aggregate() {
    let app = app().await;
    let document = "query ($seen: BigInt!) { echo(seen: $seen) }";
    for sent in [json!(u64::MAX), json!(MAX_U64)] {
        assert_eq!(
            app.query_with(document, json!({ "seen": sent }))
                .await
                .data(),
            json!({ "echo": MAX_U64 })
        );
    }
    for sent in [
        json!("18446744073709551616"),
        json!(-1),
        json!("-9223372036854775809"),
        json!(1.5),
    ] {
        assert_eq!(
            app.query_with(document, json!({ "seen": sent }))
                .await
                .code(),
            "BAD_USER_INPUT",
            "{sent}"
        );
    }
    for root in ["columnTotals", "dataTotals", "tableTotals"] {
        let document = format!(
            "{{ {root} {{ max {{ seen }} sum {{ seen }} groups(by: [SEEN], orderBy: [{{key: {{seen: DESC}}}}], limit: 2) {{ key {{ seen }} }} }} }}"
        );
        let groups =
            json!([{ "key": { "seen": MAX_U64 } }, { "key": { "seen": "9223372036854775808" } }]);
        let expected = json!({ "max": { "seen": MAX_U64 }, "sum": { "seen": "36893488147419103237" }, "groups": groups });
        assert_eq!(app.query(&document).await.data()[root], expected, "{root}");
    }
}
