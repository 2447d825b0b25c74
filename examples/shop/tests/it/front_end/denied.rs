//! Requests that are refused, and answers that keep something back.

use svc::serde_json::json;
use svc::testing::Database;

use super::{case, run};
use crate::who::{BOB, Who, product, shop};

/// An order of the north that is Bob's, and one of the south.
const BOBS: &str = "10000000-0000-4000-8000-00000000de02";
const SOUTHERN: &str = "20000000-0000-4000-8000-00000000de01";

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn orders_of_other_customers_are_hidden(database: Database) {
    use Who::{Ada, Clerk, Guest, Manager, Sofia, SouthManager};

    let client = shop(&database).await;
    let by_id = "query ($id: UUID!) { order(id: $id) { number } }";
    let reviewed = "query ($id: UUID!) { products(where: { reviews: { some: { customerId: { eq: $id } } } }) { totalCount } }";
    let mug = product(&client, "mug").await;

    run(
        &client,
        &[
            case("guests have no orders", Guest, "{ orders { totalCount } me { name } }")
                .gives(json!({ "orders": { "totalCount": 0 }, "me": null })),
            case("the order of another customer", Ada, by_id)
                .with(json!({ "id": BOBS }))
                .gives(json!({ "order": null })),
            case("the order of another shop", Clerk, by_id)
                .with(json!({ "id": SOUTHERN }))
                .gives(json!({ "order": null })),
            case("its own shop knows it", SouthManager, by_id)
                .with(json!({ "id": SOUTHERN }))
                .gives(json!({ "order": { "number": 1 } })),
            case("a product of another shop, by its id", Sofia, "query ($id: UUID!) { product(id: $id) { name } }")
                .with(json!({ "id": mug }))
                .gives(json!({ "product": null })),
            case("whose reviews they are", Ada, reviewed)
                .with(json!({ "id": BOB }))
                .gives(json!({ "products": { "totalCount": 0 } })),
            case("the staff is told", Clerk, reviewed)
                .with(json!({ "id": BOB }))
                .gives(json!({ "products": { "totalCount": 2 } })),
            case("customers are for the staff", Ada, "{ customers { name } }").fails("FORBIDDEN"),
            case("sales are for the staff", Guest, "{ sales { count } }").fails("UNAUTHENTICATED"),
            case("addresses are hidden from clerks", Clerk, "{ customers { name email } }").gives(
                json!({ "customers": [
                { "name": "Ada", "email": null }, { "name": "Bob", "email": null }, { "name": "Cleo", "email": null },
            ] }),
            ),
            case(
                "nor can clerks look for them",
                Clerk,
                "{ customers(where: { email: { icontains: \"ada\" } }) { name } }",
            )
            .gives(json!({ "customers": [] })),
            case("managers see them", Manager, "{ customers(where: { email: { startswith: \"ada\" } }) { email } }")
                .gives(json!({ "customers": [{ "email": "ada@example.org" }] })),
            case("costs are the manager's", Clerk, "{ product(sku: \"mug\") { cost } }").fails("FORBIDDEN"),
            case("nobody filters by costs", Ada, "{ products(where: { cost: { gt: \"1\" } }) { totalCount } }")
                .fails("FORBIDDEN"),
        ],
    )
    .await;
}
