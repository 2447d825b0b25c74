//! The service takes orders. Each test has its own database, with the files of `db/`.

use svc::serde_json::{Value, json};
use svc::testing::{Answer, Client, Database};

const PLACE: &str = "mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) {
    ... on PlaceOrderSuccess { order { id total lines { quantity variant { stock } } } }
    ... on PlaceOrderError { message } } }";

const CANCEL: &str = "mutation ($id: UUID!) { cancelOrder(id: $id) {
    ... on CancelOrderSuccess { order { status lines { variant { stock } } } } } }";

async fn client(database: &Database) -> Client {
    Client::new(app::with_schema(database.options()))
        .await
        .expect("the service starts")
}

/// Orders mugs.
async fn place(client: &Client, quantity: i32) -> Answer {
    let document =
        r#"{ customers(limit: 1) { id } product(identifier: "mug") { variants { id } } }"#;
    let found = client.query(document).await;
    let found: &Value = found.data();
    let (customer, variant) = (&found["customers"][0], &found["product"]["variants"][0]);
    let lines = json!([{ "variantId": variant["id"], "quantity": quantity }]);
    let input = json!({ "customerId": customer["id"], "lines": lines });
    client.query(PLACE).variable("input", input).await
}

#[svc::test(setup = ["db/migrations", "db/schema", "db/seeds"])]
async fn orders_reduce_stock_and_cancellations_restore_it(database: Database) {
    let client = client(&database).await;
    let answer = place(&client, 2).await;
    let order = &answer.data()["placeOrder"]["order"];
    assert_eq!(order["total"], "17.00");
    assert_eq!(order["lines"][0]["variant"]["stock"], 10);

    let cancel = client.query(CANCEL).variable("id", order["id"].clone());
    let answer = cancel.await;
    let cancelled = &answer.data()["cancelOrder"]["order"];
    assert_eq!(cancelled["status"], "CANCELLED");
    assert_eq!(cancelled["lines"][0]["variant"]["stock"], 12);
}

#[svc::test(setup = ["db/migrations", "db/schema", "db/seeds"])]
async fn orders_beyond_the_stock_are_rejected(database: Database) {
    let client = client(&database).await;
    let answer = place(&client, 13).await;
    assert_eq!(
        answer.data()["placeOrder"]["message"],
        "there are not enough left"
    );
    let orders = client.query("{ orders { totalCount } }").await;
    assert_eq!(orders.data()["orders"]["totalCount"], 0);
}
