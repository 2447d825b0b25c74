//! `real`, which means the decimal that PostgreSQL writes for it, wherever it is stored.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

macro_rules! measure {
    ($name:ident, $source:literal, $list:ident, $pages:ident, $totals:ident) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            value: Option<f64>,
            narrow: Option<f32>,
            many: Vec<f64>,
        }

        #[svc_type]
        impl $name {
            /// Selecting it reads whole rows.
            fn again(&self) -> Option<f32> {
                self.narrow
            }
        }

        #[svc::query]
        async fn $list() -> Vec<$name>;
        #[svc::query]
        async fn $pages() -> Connection<$name>;
        #[svc::query]
        async fn $totals() -> Aggregate<$name>;
    };
}

measure!(
    ColumnMeasure,
    "c_measure",
    columns,
    column_pages,
    column_totals
);
measure!(DataMeasure, "d_measure", data, data_pages, data_totals);
measure!(TableMeasure, "tv_measure", table, table_pages, table_totals);

async fn app() -> App {
    let sql = format!(
        "CREATE TABLE tb_measure (id int, value real, narrow real, many real[]);
         INSERT INTO tb_measure SELECT n, v, v, ARRAY[v, 0.5] FROM unnest(
           '{{0.1,0.2,16777216,123456789,3.4028235e38,-1.5,1e-45,1e10}}'::real[]) WITH ORDINALITY AS m(v, n);
         INSERT INTO tb_measure VALUES (9, null, null, '{{}}');
         {}",
        three_views("measure", "id, value, narrow, many")
    );
    let url = TestDatabase::shared("reals", &sql).await;
    let options = AppOptions::new()
        .database_url(url)
        .auto_camel_case(true)
        .queries(queries![
            columns,
            data,
            table,
            column_pages,
            data_pages,
            table_pages,
            column_totals,
            data_totals,
            table_totals
        ]);
    App::serve(options).await
}

#[tokio::test]
async fn a_value_is_the_same_number_in_every_representation() {
    let app = app().await;
    let rows = app
        .same("(orderBy: [{id: ASC}])", "{ value narrow again many }")
        .await;
    let values = [
        json!(0.1),
        json!(0.2),
        json!(16_777_216),
        json!(123_456_790),
        json!(3.4028235e38),
        json!(-1.5),
    ];
    for (row, value) in rows.as_array().unwrap().iter().zip(&values) {
        assert_eq!(
            *row,
            json!({ "value": value, "narrow": value, "again": value, "many": [value, 0.5] })
        );
    }
}

async fn ids(app: &App, condition: &str) -> Value {
    let rows = app
        .same(
            &format!("(where: {{{condition}}}, orderBy: [{{id: ASC}}])"),
            "{ id }",
        )
        .await;
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].clone())
        .collect()
}

#[tokio::test]
async fn a_returned_real_finds_its_row() {
    let app = app().await;
    for (condition, expected) in [
        ("value: {eq: 0.1}", json!([1])),
        ("narrow: {eq: 0.1}", json!([1])),
        // What the column would be as a double.
        ("value: {eq: 0.10000000149011612}", json!([])),
        ("value: {in: [0.10000000149011612, 0.2]}", json!([2])),
        (
            "value: {nin: [0.10000000149011612, 0.2]}",
            json!([1, 3, 4, 5, 6, 7, 8, 9]),
        ),
        (
            "value: {neq: 0.10000000149011612, lt: 0.2}",
            json!([1, 6, 7]),
        ),
        ("value: {gt: 0.1, lt: 1}", json!([2])),
        ("value: {gte: 0.1, lt: 1}", json!([1, 2])),
        ("value: {gte: 0.10000000001, lt: 1}", json!([2])),
        ("value: {gt: 0.09999999999, lt: 1}", json!([1, 2])),
        ("value: {lte: 0.1, gt: 0.01}", json!([1])),
        ("value: {lte: 0.09999999999, gt: 0.01}", json!([])),
        ("value: {eq: 123456790}", json!([4])),
        ("value: {gt: 16777217}", json!([4, 5, 8])),
        ("value: {gt: 1e39}", json!([])),
        ("value: {lt: -1e39}", json!([])),
        ("value: {lt: 1e39, gt: 1e30}", json!([5])),
        ("value: {eq: 1e39}", json!([])),
        ("value: {gt: 0, lt: 1e-40}", json!([7])),
        ("many: {contains: [0.1]}", json!([1])),
        ("many: {contains: [0.10000000149011612]}", json!([])),
        ("many: {overlaps: [0.10000000149011612, 0.2]}", json!([2])),
        (
            "many: {containedBy: [0.1, 0.10000000149011612, 0.5]}",
            json!([1, 9]),
        ),
        ("many: {lenEq: 2}, value: {lt: 0}", json!([6])),
    ] {
        assert_eq!(ids(&app, condition).await, expected, "{condition}");
    }
    // The same document with other values, of which some lie between two.
    for (value, expected) in [
        (0.1, json!([1])),
        (0.10000000149011612, json!([])),
        (0.2, json!([2])),
    ] {
        let document = "query ($v: Float!) { columns(where: {value: {eq: $v}}) { id } }";
        let rows = app.query_with(document, json!({ "v": value })).await.data()["columns"].clone();
        let found: Value = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].clone())
            .collect();
        assert_eq!(found, expected, "{value}");
    }
}

#[tokio::test]
async fn pages_neither_skip_nor_repeat_a_row() {
    let app = app().await;
    for root in ["columnPages", "dataPages", "tablePages"] {
        let (mut after, mut found) = (String::new(), Vec::new());
        for _ in 0..9 {
            let query = format!(
                "{{ {root}(first: 1, orderBy: [{{value: DESC_NULLS_LAST}}]{after}) {{ nodes {{ id }} pageInfo {{ endCursor }} }} }}"
            );
            let page = app.query(&query).await.data()[root].clone();
            found.push(page["nodes"][0]["id"].clone());
            after = format!(", after: {}", page["pageInfo"]["endCursor"]);
        }
        assert_eq!(
            Value::from(found),
            json!([5, 8, 4, 3, 2, 1, 7, 6, 9]),
            "{root}"
        );
    }
}

#[tokio::test]
async fn sums_and_groups_use_the_decimal_values() {
    let app = app().await;
    for root in ["columnTotals", "dataTotals", "tableTotals"] {
        let document = format!(
            "{{ all: {root}(where: {{id: {{in: [1, 2, 4]}}}}) {{ sum {{ value }} avg {{ narrow }} min {{ value }} max {{ value }}
                 groups(by: [VALUE], orderBy: [{{key: {{value: DESC}}}}]) {{ key {{ value }} max {{ narrow }} }} }} }}"
        );
        let group = |value: Value| json!({ "key": { "value": value }, "max": { "narrow": value } });
        let expected = json!({
            "sum": { "value": 123_456_790.3 },
            "avg": { "narrow": 41_152_263.433_333_33 },
            "min": { "value": 0.1 },
            "max": { "value": 123_456_790 },
            "groups": [group(json!(123_456_790)), group(json!(0.2)), group(json!(0.1))],
        });
        assert_eq!(app.query(&document).await.data()["all"], expected, "{root}");
    }
}
