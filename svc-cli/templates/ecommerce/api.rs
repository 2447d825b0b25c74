//! The service takes orders.

mod harness;

use svc::axum::Router;

async fn id(service: &Router, document: &str, path: &str) -> String {
    let answer = harness::ask(service, document).await;
    answer
        .pointer(path)
        .and_then(|id| id.as_str())
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

async fn place(service: &Router, quantity: i32) -> svc::serde_json::Value {
    let customer = id(
        service,
        "{ customers(limit: 1) { id } }",
        "/data/customers/0/id",
    )
    .await;
    let mug = r#"{ product(identifier: "mug") { variants { id } } }"#;
    let variant = id(service, mug, "/data/product/variants/0/id").await;
    let document = format!(
        r#"mutation {{ placeOrder(input: {{
            customerId: "{customer}", lines: [{{ variantId: "{variant}", quantity: {quantity} }}] }}) {{
            ... on PlaceOrderSuccess {{ order {{ id total lines {{ quantity variant {{ stock }} }} }} }}
            ... on PlaceOrderError {{ message }} }} }}"#
    );
    harness::ask(service, &document).await
}

#[tokio::test]
async fn an_order_takes_stock_and_a_cancelled_one_puts_it_back() {
    let service = harness::start().await;
    let answer = place(&service, 2).await;
    let order = &answer["data"]["placeOrder"]["order"];
    assert_eq!(order["total"], "17.00", "{answer}");
    assert_eq!(order["lines"][0]["variant"]["stock"], 10, "{answer}");

    let order = order["id"].as_str().expect("an id");
    let cancel = format!(
        r#"mutation {{ cancelOrder(id: "{order}") {{ ... on CancelOrderSuccess {{
            order {{ status lines {{ variant {{ stock }} }} }} }} }} }}"#
    );
    let answer = harness::ask(&service, &cancel).await;
    let cancelled = &answer["data"]["cancelOrder"]["order"];
    assert_eq!(cancelled["status"], "CANCELLED", "{answer}");
    assert_eq!(cancelled["lines"][0]["variant"]["stock"], 12, "{answer}");
}

#[tokio::test]
async fn more_than_there_is_cannot_be_ordered() {
    let service = harness::start().await;
    let answer = place(&service, 13).await;
    assert_eq!(
        answer["data"]["placeOrder"]["message"], "there are not enough left",
        "{answer}"
    );
    let orders = harness::ask(&service, "{ orders { totalCount } }").await;
    assert_eq!(orders["data"]["orders"]["totalCount"], 0, "{orders}");
}
