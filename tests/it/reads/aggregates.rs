//! Aggregates and groups, over the three kinds of views, and the same from a resolver.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

/// The kind of a sale.
#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum Kind {
    #[svc(stored = "r")]
    Retail,
    #[svc(stored = "w")]
    Wholesale,
}

macro_rules! sale {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: Uuid,
            kind: Kind,
            city: Option<String>,
            pieces: i32,
            grams: i64,
            price: Decimal,
            weight: Option<f64>,
            sold_on: NaiveDate,
            sold_at: DateTime<Utc>,
            paid: bool,
            meta: serde_json::Value,
            tags: Vec<String>,
        }
    };
}

sale!(ColumnSale, "c_sale");
sale!(DataSale, "d_sale");
sale!(TableSale, "tv_sale");

#[svc::query]
async fn columns() -> Aggregate<ColumnSale>;
#[svc::query]
async fn data() -> Aggregate<DataSale>;
#[svc::query]
async fn table() -> Aggregate<TableSale>;
#[svc::query]
async fn retail(ctx: &Context<'_>, city: Option<String>) -> Result<Aggregate<ColumnSale>> {
    let sales = ctx.db().find::<ColumnSale>().filter(col("kind").eq("r"));
    Ok(match city {
        Some(city) => sales.filter(col("city").eq(city)),
        None => sales,
    }
    .aggregate())
}

/// Everything that the repository computes.
#[svc::query]
async fn computed(ctx: &Context<'_>) -> Result<Vec<String>> {
    let sales = || {
        ctx.db()
            .find::<DataSale>()
            .filter(col("pieces").gt(2))
            .limit(1)
    };
    Ok(vec![
        format!("{:?}", sales().sum("price").await?),
        format!("{:?}", sales().avg("pieces").await?),
        format!("{:?}", sales().min("sold_on").await?),
        format!("{:?}", sales().max("grams").await?),
        format!(
            "{:?}",
            sales().filter(col("pieces").gt(1000)).sum("price").await?
        ),
        format!("{:?}", sales().distinct("city").await?),
        format!("{:?}", sales().group_counts(["kind", "paid"]).await?),
        format!("{}", sales().sum("nothing").await.is_err()),
    ])
}

const SQL: &str = r#"
CREATE TABLE tb_sale (id uuid PRIMARY KEY, kind text NOT NULL, city text, pieces int NOT NULL, grams bigint NOT NULL,
  price numeric NOT NULL, weight float8, sold_on date NOT NULL, sold_at timestamptz NOT NULL, paid boolean NOT NULL,
  meta jsonb NOT NULL, tags text[] NOT NULL);
INSERT INTO tb_sale SELECT md5(n::text)::uuid, CASE WHEN n % 3 = 0 THEN 'w' ELSE 'r' END,
  (ARRAY['Ulm', 'Bonn', NULL])[n % 3 + 1], n, 9007199254740993 + n, n * 0.10, nullif(n, 4) * 0.5, date '2024-01-01' + n,
  '2024-01-01T00:00:00Z'::timestamptz + n * interval '1 day', n % 2 = 0, '{}', '{}' FROM generate_series(1, 6) n;
"#;

async fn app() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of(
        "aggregates",
        &(SQL.to_owned() + &three_views("sale", "id, kind")),
    )
    .await;
    let queries = queries![columns, data, table, retail, computed];
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries);
    (database, App::serve(options).await)
}

#[tokio::test]
async fn groups_by_a_decimal_are_in_the_order_of_numbers() {
    let (database, app) = app().await;
    database
        .execute("UPDATE tb_sale SET price = 12 WHERE pieces = 1; UPDATE tb_sale SET price = 9 WHERE pieces = 2")
        .await;
    let document = "{ columns { groups(by: [PRICE], orderBy: [{key: {price: DESC}}], limit: 3) { key { price } } } }";
    let groups = app.query(document).await.data()["columns"]["groups"].clone();
    let expected: Vec<_> = ["12", "9", "0.60"]
        .iter()
        .map(|price| json!({ "key": { "price": price } }))
        .collect();
    assert_eq!(groups, json!(expected));
}

#[tokio::test]
async fn numbers_are_exact_and_dates_are_dates() {
    let (_database, app) = app().await;
    let answer = app
        .same(
            "",
            "{ count sum { pieces grams price weight } avg { pieces price weight }
           min { pieces grams price weight soldOn soldAt city } max { city soldOn grams } }",
        )
        .await;
    assert_eq!(
        answer,
        json!({
            "count": 6,
            "sum": {"pieces": 21, "grams": "54043195528445979", "price": "2.10", "weight": 8.5},
            "avg": {"pieces": 3.5, "price": "0.35000000000000000000", "weight": 1.7},
            "min": {"pieces": 1, "grams": "9007199254740994", "price": "0.10", "weight": 0.5, "soldOn": "2024-01-02",
                    "soldAt": "2024-01-02T00:00:00Z", "city": "Bonn"},
            "max": {"city": "Ulm", "soldOn": "2024-01-07", "grams": "9007199254740999"},
        })
    );
    let none = app
        .same(
            "(where: {pieces: {gt: 100}})",
            "{ count sum { pieces } avg { price } max { soldAt } }",
        )
        .await;
    assert_eq!(
        none,
        json!({"count": 0, "sum": {"pieces": null}, "avg": {"price": null}, "max": {"soldAt": null}})
    );
}

#[tokio::test]
async fn rows_are_grouped_by_the_fields_of_by() {
    let (_database, app) = app().await;
    let groups = app
        .same(
            "",
            "{ groups(by: [CITY]) { key { city } count sum { price } } }",
        )
        .await;
    assert_eq!(
        groups["groups"],
        json!([
            {"key": {"city": "Bonn"}, "count": 2, "sum": {"price": "0.50"}},
            {"key": {"city": "Ulm"}, "count": 2, "sum": {"price": "0.90"}},
            {"key": {"city": null}, "count": 2, "sum": {"price": "0.70"}},
        ])
    );
    let groups = app.same("(where: {pieces: {lt: 6}})",
        "{ count byKind: groups(by: [KIND], orderBy: [{count: DESC}]) { key { kind } count }
           top: groups(by: [PAID, KIND], orderBy: [{sum: {pieces: DESC}}, {key: {paid: ASC}}], limit: 2, offset: 1) { key { paid kind } max { pieces } } }",
    )
    .await;
    assert_eq!(groups["count"], 5);
    assert_eq!(
        groups["byKind"],
        json!([{"key": {"kind": "RETAIL"}, "count": 4}, {"key": {"kind": "WHOLESALE"}, "count": 1}])
    );
    assert_eq!(
        groups["top"],
        json!([{"key": {"paid": true, "kind": "RETAIL"}, "max": {"pieces": 4}},
               {"key": {"paid": false, "kind": "WHOLESALE"}, "max": {"pieces": 3}}])
    );
    let all = app.same("", "{ groups { count } }").await;
    assert_eq!(all["groups"], json!([{"count": 6}]));
    let names = app
        .query("{ columns { __typename groups { __typename key { __typename } } sum { __typename } } }")
        .await
        .data();
    let groups =
        json!([{"__typename": "ColumnSaleGroup", "key": {"__typename": "ColumnSaleGroupKey"}}]);
    let sum = json!({"__typename": "ColumnSaleSum"});
    assert_eq!(
        names["columns"],
        json!({"__typename": "ColumnSaleAggregate", "groups": groups, "sum": sum})
    );
    let (database, app) = self::app().await;
    app.query("{ columns { count groups(by: [CITY]) { key { city } count } } }")
        .await
        .data();
    assert_eq!(database.statements("\"c_sale\"").await, 1);
}

#[tokio::test]
async fn invalid_aggregates_are_client_errors() {
    let (_database, app) = app().await;
    let reply = app
        .query("{ columns { groups(by: [KIND], orderBy: [{key: {city: ASC}}]) { key { kind } } } }")
        .await;
    assert_eq!(reply.code(), "BAD_USER_INPUT");
    assert!(
        reply
            .message()
            .contains("`city` orders groups and is not in `by`; add `CITY` there"),
        "{}",
        reply.text
    );
    let reply = app
        .query("{ columns { groups(limit: -1) { count } } }")
        .await;
    assert!(reply.message().contains("negative"), "{}", reply.text);
    for query in [
        "{ columns { sum { city } } }",
        "{ columns { sum { kind } } }",
        "{ columns { groups { key { meta } } } }",
    ] {
        assert_eq!(
            app.query(query).await.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{query}"
        );
    }
}

#[tokio::test]
async fn resolvers_compute_too() {
    let (_database, app) = app().await;
    let answer = app
        .query(
            r#"{ retail(city: "Ulm") { count } all: retail { count sum { pieces } groups(by: [CITY]) { key { city } count } } }"#,
        )
        .await;
    let answer = answer.data();
    assert_eq!(answer["retail"]["count"], 0);
    assert_eq!(answer["all"]["count"], 4);
    assert_eq!(answer["all"]["sum"]["pieces"], 12);
    assert_eq!(answer["all"]["groups"].as_array().unwrap().len(), 2);
    let computed = app.query("{ computed }").await.data();
    assert_eq!(
        computed["computed"],
        json!([
            "Some(1.80)",
            "Some(4.5)",
            "Some(\"2024-01-04\")",
            "Some(\"9007199254740999\")",
            "None",
            "[Some(\"Bonn\"), Some(\"Ulm\"), None]",
            "[GroupCount { key: [Some(\"r\"), Some(\"false\")], count: 1 }, GroupCount { key: [Some(\"r\"), Some(\"true\")], count: 1 }, \
             GroupCount { key: [Some(\"w\"), Some(\"false\")], count: 1 }, GroupCount { key: [Some(\"w\"), Some(\"true\")], count: 1 }]",
            "true",
        ])
    );
}
