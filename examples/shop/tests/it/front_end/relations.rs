//! Relations: the tree of categories, many to many, orders with their lines.

use svc::serde_json::json;
use svc::testing::Database;

use super::{case, run};
use crate::who::{Who, shop};

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn categories_are_read(database: Database) {
    use Who::{Guest, SouthManager};

    run(&shop(&database).await, &[
        case("the tree", Guest,
            "{ categories(where: { NOT: { parent: {} } }) { name children { name children { name } } } }")
            .gives(json!({ "categories": [
                { "name": "Garden", "children": [] },
                { "name": "Gifts", "children": [] },
                { "name": "Kitchen", "children": [
                    { "name": "Cups", "children": [{ "name": "Espresso cups" }] },
                    { "name": "Plates", "children": [] },
                ] },
            ] })),
        case("a whole branch", Guest, "{ categories(where: { name: { eq: \"Cups\" } }) { products { sku } } }")
            .gives(json!({ "categories": [{ "products": [{ "sku": "espresso" }, { "sku": "mug" }, { "sku": "saucer" }] }] })),
        case("the way up", Guest, "{ categories(where: { name: { eq: \"Espresso cups\" } }) { parent { name parent { name } } } }")
            .gives(json!({ "categories": [{ "parent": { "name": "Cups", "parent": { "name": "Kitchen" } } }] })),
        case("the categories of a product", Guest, "{ product(sku: \"teapot\") { categories { name } } }")
            .gives(json!({ "product": { "categories": [{ "name": "Kitchen" }, { "name": "Gifts" }] } })),
        case("the place of a category among them", Guest,
            "{ product(sku: \"teapot\") { categoriesConnection(first: 1) { totalCount edges { position } } } }")
            .gives(json!({ "product": { "categoriesConnection": { "totalCount": 2, "edges": [{ "position": 1 }] } } })),
        case("products by their category", Guest,
            "{ products(where: { categories: { some: { name: { eq: \"Garden\" } } } }) { nodes { sku } } }")
            .gives(json!({ "products": { "nodes": [{ "sku": "planter" }, { "sku": "vase" }] } })),
        case("a category of one name in the other shop", SouthManager,
            "{ categories { name products(orderBy: [{ price: DESC }], limit: 1) { sku } } }")
            .gives(json!({ "categories": [{ "name": "Garden", "products": [{ "sku": "spade" }] }] })),
    ]).await;
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn orders_and_reviews_are_read(database: Database) {
    use Who::{Ada, Clerk, Guest};

    run(&shop(&database).await, &[
        case("reviews, whose writers are not told", Guest,
            "{ product(sku: \"espresso\") { rating reviewCount reviews { stars body customer { name } } } }")
            .gives(json!({ "product": { "rating": "4.50", "reviewCount": 2, "reviews": [
                { "stars": 4, "body": "Too small for me.", "customer": null },
                { "stars": 5, "body": "Small and pretty.", "customer": null },
            ] } })),
        case("one's own review", Ada, "{ product(sku: \"espresso\") { reviews(limit: 1, offset: 1) { customer { name } } } }")
            .gives(json!({ "product": { "reviews": [{ "customer": { "name": "Ada" } }] } })),
        case("one's orders with their lines", Ada,
            "{ orders { nodes { number status total pieces lines { quantity total product { name } } } } }")
            .gives(json!({ "orders": { "nodes": [
                { "number": 3, "status": "PLACED", "total": "48.00", "pieces": 5, "lines": [
                    { "quantity": 1, "total": "14.00", "product": { "name": "Dinner plate" } },
                    { "quantity": 4, "total": "34.00", "product": { "name": "Mug" } },
                ] },
                { "number": 1, "status": "SHIPPED", "total": "18.40", "pieces": 4, "lines": [
                    { "quantity": 2, "total": "12.00", "product": { "name": "Espresso cup" } },
                    { "quantity": 2, "total": "6.40", "product": { "name": "Saucer" } },
                ] },
            ] } })),
        case("the parcels of one's orders", Ada, "{ orders { nodes { number trackingCode } } }")
            .gives(json!({ "orders": { "nodes": [
                { "number": 3, "trackingCode": null },
                { "number": 1, "trackingCode": "NP0000001" },
            ] } })),
        case("the customers of the shop with their last order", Clerk,
            "{ customers { name city orders(limit: 1) { number } } }")
            .gives(json!({ "customers": [
                { "name": "Ada", "city": "Oslo", "orders": [{ "number": 3 }] },
                { "name": "Bob", "city": "Bergen", "orders": [{ "number": 2 }] },
                { "name": "Cleo", "city": null, "orders": [] },
            ] })),
        case("who asks", Ada, "{ me { name email orders { number } } }")
            .gives(json!({ "me": { "name": "Ada", "email": "ada@example.org", "orders": [{ "number": 3 }, { "number": 1 }] } })),
    ]).await;
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn a_page_of_the_front_end_is_one_statement(database: Database) {
    let document = "{ products(first: 5) { nodes { name price categories { name parent { name } }
        reviews(limit: 2) { stars body } } } }";
    let answer = Who::Guest
        .of(&shop(&database).await)
        .query(document)
        .explained()
        .await;
    assert_eq!(answer.statements().len(), 1, "{:#?}", answer.statements());
}
