//! Orders that race for the last pieces.

use std::collections::BTreeMap;

use svc::futures_util::future::join_all;
use svc::serde_json::json;
use svc::sqlx;
use svc::testing::{Client, Database};

use crate::who::{Who, product, shop};

const ORDER: &str = "mutation ($lines: [NewLine!]!) { placeOrder(lines: $lines) {
    __typename
    ... on PlaceOrderSuccess { order { id number total lines { quantity product { stock } } } }
    ... on PlaceOrderError { status code message left product { sku } }
} }";

/// The answer to an order of so many pieces.
async fn order(client: &Client, who: Who, lines: &[(&str, i32)]) -> svc::serde_json::Value {
    let lines: Vec<_> = lines
        .iter()
        .map(|(id, quantity)| json!({ "productId": id, "quantity": quantity }))
        .collect();
    let answer = who
        .of(client)
        .query(ORDER)
        .variables(json!({ "lines": lines }))
        .await;

    answer.data()["placeOrder"].clone()
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn of_120_orders_for_12_pieces_12_are_sold(database: Database) {
    let client = shop(&database).await;
    let mug = product(&client, "mug").await;
    let buyers = [Who::Ada, Who::Bob, Who::Cleo]
        .into_iter()
        .cycle()
        .take(120);
    let answers = join_all(buyers.map(|who| {
        let (client, mug) = (client.clone(), mug.clone());
        // Each in a task of its own, so that they run on several threads.
        tokio::spawn(async move { order(&client, who, &[(&mug, 1)]).await })
    }))
    .await;

    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let mut numbers = Vec::new();
    for answer in answers {
        let answer = answer.unwrap();
        *ends
            .entry(answer["__typename"].as_str().unwrap().to_owned())
            .or_default() += 1;

        match answer["order"]["number"].as_i64() {
            Some(number) => numbers.push(number),
            None => assert_eq!(
                answer,
                json!({
                    "__typename": "PlaceOrderError", "status": "conflict:sold_out", "code": 409, "message": "Mug: 0 left",
                    "left": 0, "product": { "sku": "mug" },
                })
            ),
        }
    }

    assert_eq!(
        ends,
        BTreeMap::from([
            ("PlaceOrderError".to_owned(), 108),
            ("PlaceOrderSuccess".to_owned(), 12)
        ])
    );

    numbers.sort_unstable();
    assert_eq!(numbers, (4..16).collect::<Vec<_>>(), "numbers without gaps");
    let pool = database.pool().unwrap();
    let rows: (i32, i64, i64) = sqlx::query_as(
        "SELECT min(p.stock), sum(l.quantity), count(DISTINCT o.id) FROM tb_product AS p
         JOIN tb_order_line AS l ON l.product_id = p.id JOIN tb_order AS o ON o.id = l.order_id
         WHERE p.sku = 'mug' AND o.number > 3",
    )
    .fetch_one(&pool)
    .await
    .unwrap();

    assert_eq!(rows, (0, 12, 12));
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn orders_of_several_products_never_wait_for_each_other(database: Database) {
    let client = shop(&database).await;
    let (cup, saucer) = (
        product(&client, "espresso").await,
        product(&client, "saucer").await,
    );
    let answers = join_all((0..40).map(|number| {
        let (client, cup, saucer) = (client.clone(), cup.clone(), saucer.clone());
        tokio::spawn(async move {
            let mut lines = [(cup.as_str(), 1), (saucer.as_str(), 1)];
            if number % 2 == 0 {
                lines.reverse();
            }
            order(&client, Who::Bob, &lines).await["__typename"].clone()
        })
    }))
    .await;

    let sold = answers
        .into_iter()
        .filter(|answer| answer.as_ref().unwrap() == "PlaceOrderSuccess")
        .count();

    assert_eq!(sold, 30);
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn a_buyer_reads_the_shop_after_the_order(database: Database) {
    let client = shop(&database).await;
    let mug = product(&client, "mug").await;
    let ada = Who::Ada.of(&client);
    let seen = "orders { totalCount } product(sku: \"mug\") { stock }";
    let before = ada.query(format!("{{ {seen} }}")).await.data().clone();
    let document = format!(
        "mutation ($lines: [NewLine!]!) {{ placeOrder(lines: $lines) {{
            ... on PlaceOrderSuccess {{ status query {{ {seen} }} }}
            ... on PlaceOrderError {{ code }}
        }} }}"
    );
    let buy = async |quantity: i32| {
        let lines = json!([{ "productId": mug, "quantity": quantity }]);
        let answer = ada.query(document.as_str()).variable("lines", lines).await;
        answer.data()["placeOrder"].clone()
    };

    let after = buy(2).await["query"].clone();
    let number = |of: &svc::serde_json::Value, path: &str| of.pointer(path).unwrap().as_i64();
    assert_eq!(number(&before, "/product/stock"), Some(12));
    assert_eq!(number(&after, "/product/stock"), Some(10));
    assert_eq!(
        number(&after, "/orders/totalCount"),
        number(&before, "/orders/totalCount").map(|count| count + 1)
    );
    assert_eq!(buy(11).await, json!({ "code": 409 }));
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn an_order_is_whole_or_nothing(database: Database) {
    let client = shop(&database).await;
    let (mug, bowl) = (
        product(&client, "mug").await,
        product(&client, "bowl").await,
    );
    let lamp = product(&client, "prototype").await;
    let answer = order(&client, Who::Ada, &[(&mug, 2), (&bowl, 1)]).await;
    assert_eq!(
        (&answer["product"]["sku"], &answer["left"]),
        (&json!("bowl"), &json!(0))
    );
    assert_eq!(
        order(&client, Who::Ada, &[(&lamp, 1)]).await["status"],
        "not_found:product"
    );
    assert_eq!(
        order(&client, Who::Sofia, &[(&mug, 1)]).await["status"],
        "not_found:product"
    );
    assert_eq!(
        order(&client, Who::Ada, &[]).await["status"],
        "validation:empty"
    );
    let answer = Who::Guest
        .of(&client)
        .query("{ product(sku: \"mug\") { stock } }")
        .await;
    assert_eq!(answer.data()["product"]["stock"], 12);
    let answer = Who::Clerk
        .of(&client)
        .query(ORDER)
        .variables(json!({ "lines": [] }))
        .await;

    assert_eq!(answer.code(), "FORBIDDEN");
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn a_cancelled_order_restores_its_stock(database: Database) {
    let client = shop(&database).await;
    let mug = product(&client, "mug").await;
    let placed = order(&client, Who::Ada, &[(&mug, 3)]).await;

    assert_eq!(
        placed["order"]["lines"],
        json!([{ "quantity": 3, "product": { "stock": 9 } }])
    );
    let cancel = "mutation ($id: UUID!) { cancelOrder(id: $id) {
        ... on CancelOrderSuccess { order { status lines { product { stock } } } }
        ... on CancelOrderError { status } } }";
    let cancelled = async |who: Who| {
        let request = who
            .of(&client)
            .query(cancel)
            .variable("id", placed["order"]["id"].clone());
        request.await.data()["cancelOrder"].clone()
    };

    assert_eq!(
        cancelled(Who::Bob).await,
        json!({ "status": "not_found:order" })
    );
    assert_eq!(
        cancelled(Who::SouthManager).await,
        json!({ "status": "not_found:order" })
    );
    let order =
        json!({ "order": { "status": "CANCELLED", "lines": [{ "product": { "stock": 12 } }] } });
    assert_eq!(cancelled(Who::Ada).await, order);

    assert_eq!(
        cancelled(Who::Clerk).await,
        json!({ "status": "conflict:cancelled" })
    );
}
