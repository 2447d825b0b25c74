//! Lists, filters and orders.

use svc::serde_json::json;
use svc::testing::Database;

use super::{case, run};
use crate::who::{Who, shop};

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn lists_are_filtered_and_ordered(database: Database) {
    use Who::{Guest, Lost, Manager, SouthManager};

    let names = |names: &[&str]| {
        let nodes: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
        json!({ "products": { "nodes": nodes } })
    };

    run(&shop(&database).await, &[
        case("the shop of the header", Guest, "{ shop { identifier name currency } }")
            .gives(json!({ "shop": { "identifier": "north", "name": "North Pottery", "currency": "EUR" } })),
        case("without a shop there is none", Lost, "{ shop { name } products { totalCount } categories { name } }")
            .gives(json!({ "shop": null, "products": { "totalCount": 0 }, "categories": [] })),
        case("a product by its number", Guest, "{ product(sku: \"mug\") { name price stock isAvailable } }")
            .gives(json!({ "product": { "name": "Mug", "price": "8.50", "stock": 12, "isAvailable": true } })),
        case("the same number in the other shop", SouthManager, "{ product(sku: \"mug\") { name price } }")
            .gives(json!({ "product": { "name": "Tin mug", "price": "5.00" } })),
        case("products by name", Guest, "{ products(first: 3) { nodes { name } } }")
            .gives(names(&["Candle holder", "Dinner plate", "Espresso cup"])),
        case("the dearest", Guest, "{ products(first: 2, orderBy: [{ price: DESC }]) { nodes { name } } }")
            .gives(names(&["Teapot", "Vase"])),
        case("what the staff sees besides", Manager, "{ products(first: 1, orderBy: [{ price: DESC }]) { nodes { name } } }")
            .gives(names(&["Lamp"])),
        case("cheap ones that are left", Guest,
            "{ products(where: { price: { lt: \"9\" }, stock: { gt: 12 } }) { nodes { name } } }")
            .gives(names(&["Espresso cup", "Saucer"])),
        case("either of two conditions", Guest,
            "{ products(where: { OR: [{ stock: { eq: 0 } }, { sku: { in: [\"jug\", \"lamp\"] } }] }) { nodes { name } } }")
            .gives(names(&["Jug", "Soup bowl"])),
        case("a part of the name", Guest, "{ products(where: { name: { icontains: \"CUP\" } }) { nodes { name } } }")
            .gives(names(&["Espresso cup"])),
        case("without a review", Guest,
            "{ products(first: 2, where: { reviews: { none: {} } }, orderBy: [{ createdAt: ASC }]) { nodes { name } } }")
            .gives(names(&["Mug", "Saucer"])),
        case("by stars, those without at last", Guest,
            "{ products(first: 3, orderBy: [{ rating: DESC_NULLS_LAST }, { sku: ASC }]) { nodes { name } } }")
            .gives(names(&["Espresso cup", "Teapot", "Soup bowl"])),
    ]).await;
}
