//! Subscriptions to orders, without a socket.

use std::time::Duration;

use svc::serde_json::json;
use svc::testing::{Client, Database, Subscribed};
use tokio::time::timeout;

use crate::who::{Who, product, shop};

const CHANGED: &str = "subscription { orderChanged { status customer { name } } }";

/// Subscribes, where events may not be listened to yet.
async fn subscribe(client: &Client, who: Who) -> Subscribed {
    svc_tests::eventually(async || {
        let subscribed = who.of(client).query(CHANGED).subscribe().await;
        subscribed.map_err(|refused| format!("{refused:?}"))
    })
    .await
}

/// The status and the customer of the next order that is sent.
async fn next(orders: &mut Subscribed) -> (String, String) {
    let answer = timeout(Duration::from_secs(120), orders.next())
        .await
        .unwrap()
        .unwrap();
    let order = &answer["data"]["orderChanged"];
    let text = |value: &svc::serde_json::Value| {
        value
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    };

    (text(&order["status"]), text(&order["customer"]["name"]))
}

async fn buy(client: &Client, who: Who, id: &str) {
    let document = "mutation ($id: UUID!) { placeOrder(lines: [{ productId: $id, quantity: 1 }]) { __typename } }";
    let answer = who.of(client).query(document).variable("id", id).await;
    assert_eq!(
        answer.data()["placeOrder"]["__typename"],
        "PlaceOrderSuccess"
    );
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn orders_are_sent_to_subscribers_that_may_see_them(database: Database) {
    let client = shop(&database).await;
    let mug = product(&client, "mug").await;
    let mut clerk = subscribe(&client, Who::Clerk).await;
    let mut bob = subscribe(&client, Who::Bob).await;
    let mut south = subscribe(&client, Who::SouthManager).await;

    buy(&client, Who::Ada, &mug).await;
    buy(&client, Who::Bob, &mug).await;
    let placed = |name: &str| ("PLACED".to_owned(), name.to_owned());
    assert_eq!(
        [next(&mut clerk).await, next(&mut clerk).await],
        [placed("Ada"), placed("Bob")]
    );
    assert_eq!(next(&mut bob).await, placed("Bob"));
    let quiet = timeout(Duration::from_millis(200), south.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
    let refused = Who::Guest
        .of(&client)
        .query(CHANGED)
        .subscribe()
        .await
        .unwrap_err();

    assert_eq!(
        refused.json()["errors"][0]["extensions"]["code"],
        json!("UNAUTHENTICATED")
    );
}
