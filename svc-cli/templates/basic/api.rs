//! The service answers queries.

mod harness;

use svc::serde_json::json;

#[tokio::test]
async fn users_can_be_listed() {
    let service = harness::start().await;
    let answer = harness::ask(
        &service,
        "{ users(orderBy: [{ name: ASC }]) { name email } }",
    )
    .await;
    let ada = json!({ "name": "Ada Lovelace", "email": "ada@example.org" });
    assert_eq!(answer["data"]["users"][0], ada, "{answer}");
}
