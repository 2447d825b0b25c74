//! `ctx.db()`: every method under mandatory filters, and rows as JSON.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_order")]
struct Order {
    id: i32,
    item: String,
    price: Decimal,
}

fn found(result: Result<impl std::fmt::Debug>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(_) => "error".to_owned(),
    }
}

/// The results of each method, under conditions that the client chooses.
#[svc::query]
async fn everything(
    ctx: &Context<'_>,
    column: String,
    shop: i32,
    open: Option<bool>,
) -> Result<Vec<String>> {
    let db = ctx.db().scoped(column, shop);
    let db = match open {
        Some(open) => db.scoped("open", open),
        None => db,
    };
    let orders = || {
        db.find::<Order>()
            .filter(col("id").gt(0))
            .order_by(asc("id"))
    };
    let ids = |orders: Vec<Order>| orders.into_iter().map(|order| order.id).collect::<Vec<_>>();
    Ok(vec![
        found(orders().await.map(ids)),
        found(
            db.find_one::<Order>()
                .filter(col("id").eq(2))
                .await
                .map(|order| order.map(|order| order.id)),
        ),
        found(orders().count().await),
        found(orders().filter(col("item").eq("c")).exists().await),
        found(orders().sum("price").await),
        found(orders().avg("price").await),
        found(orders().min("item").await),
        found(orders().max("item").await),
        found(orders().distinct("item").await),
        found(
            orders()
                .group_counts(["open"])
                .await
                .map(|groups| groups.len()),
        ),
        found(
            orders()
                .paginate(CursorPage {
                    last: Some(1),
                    ..CursorPage::default()
                })
                .await
                .map(|slice| slice.edges[0].node.id),
        ),
        found(orders().json().await.map(|rows| rows.len())),
    ])
}

#[svc::query]
async fn listed(ctx: &Context<'_>, shop: i32) -> Result<Find<Order>> {
    Ok(ctx.db().scoped("shop", shop).find().order_by(asc("id")))
}

#[svc::query]
async fn paged(ctx: &Context<'_>, shop: i32, page: CursorPage) -> Result<Connection<Order>> {
    Ok(ctx.db().scoped("shop", shop).find().paginate(page))
}

#[svc::query]
async fn computed(ctx: &Context<'_>, shop: i32) -> Result<Aggregate<Order>> {
    Ok(ctx.db().scoped("shop", shop).find().aggregate())
}

#[svc::query]
async fn raw(ctx: &Context<'_>) -> Result<serde_json::Value> {
    Ok(ctx
        .db()
        .find::<Order>()
        .order_by(asc("id"))
        .limit(1)
        .json()
        .await?
        .into())
}

const SQL: &str = "
CREATE TABLE tb_order (id int PRIMARY KEY, item text NOT NULL, price numeric NOT NULL, shop int NOT NULL, open boolean NOT NULL);
INSERT INTO tb_order VALUES (1, 'a', 1.5, 1, true), (2, 'b', 2.5, 1, false), (3, 'c', 4, 2, true), (4, 'd', 8, 2, true);
CREATE VIEW v_order AS SELECT id, shop, open, to_jsonb(o) AS data FROM tb_order o;";

async fn app() -> App {
    let url = TestDatabase::shared("repository", SQL).await;
    let options = AppOptions::new()
        .database_url(url)
        .queries(queries![everything, listed, paged, computed, raw]);
    App::serve(options).await
}

#[tokio::test]
async fn mandatory_filters_hold_in_every_method() {
    let app = app().await;
    for (arguments, expected) in [
        (
            "column: \"shop\", shop: 1",
            [
                "[1, 2]",
                "Some(2)",
                "2",
                "false",
                "Some(4.0)",
                "Some(2.0)",
                "Some(\"a\")",
                "Some(\"b\")",
                "[Some(\"a\"), Some(\"b\")]",
                "2",
                "2",
                "2",
            ],
        ),
        (
            "column: \"shop\", shop: 2, open: true",
            [
                "[3, 4]",
                "None",
                "2",
                "true",
                "Some(12)",
                "Some(6.0)",
                "Some(\"c\")",
                "Some(\"d\")",
                "[Some(\"c\"), Some(\"d\")]",
                "1",
                "4",
                "2",
            ],
        ),
    ] {
        let answer = app
            .query(&format!("{{ everything({arguments}) }}"))
            .await
            .data();
        assert_eq!(answer["everything"], json!(expected), "{arguments}");
    }
    let answer = app
        .query(
            "{ listed(shop: 2) { item } paged(shop: 1, first: 1) { totalCount: total_count nodes { item } page_info { has_next_page } }
               computed(shop: 2) { count sum { price } groups(by: [ITEM]) { key { item } } } }",
        )
        .await
        .data();
    assert_eq!(
        answer,
        json!({
            "listed": [{"item": "c"}, {"item": "d"}],
            "paged": {"totalCount": 2, "nodes": [{"item": "a"}], "page_info": {"has_next_page": true}},
            "computed": {"count": 2, "sum": {"price": "12"}, "groups": [{"key": {"item": "c"}}, {"key": {"item": "d"}}]},
        })
    );
}

#[tokio::test]
async fn a_mandatory_filter_on_nothing_finds_nothing() {
    let app = app().await;
    let answer = app
        .query("{ everything(column: \"tenant\", shop: 1) }")
        .await
        .data();
    assert_eq!(answer["everything"], json!(vec!["error"; 12]));
}

#[tokio::test]
async fn rows_are_json_with_the_stored_names() {
    let app = app().await;
    let answer = app.query("{ raw }").await.data();
    assert_eq!(
        answer["raw"],
        json!([{"id": 1, "item": "a", "price": "1.5"}])
    );
}
