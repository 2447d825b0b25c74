//! The service answers queries. Each test has its own database, with the files of `db/`.

use svc::serde_json::json;
use svc::testing::{Client, Database};

async fn client(database: &Database) -> Client {
    Client::new(app::with_schema(database.options()))
        .await
        .expect("the service starts")
}

#[svc::test(setup = ["db/migrations", "db/schema", "db/seeds"])]
async fn users_can_be_listed(database: Database) {
    let client = client(&database).await;
    let answer = client
        .query("{ users(orderBy: [{ name: ASC }]) { name email } }")
        .await;
    let ada = json!({ "name": "Ada Lovelace", "email": "ada@example.org" });
    assert_eq!(answer.data()["users"][0], ada);
}
