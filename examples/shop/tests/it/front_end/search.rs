//! Words.

use svc::serde_json::json;
use svc::testing::Database;

use super::{case, run};
use crate::who::{Who, shop};

const SEARCH: &str = "query ($words: String!) { products(
    where: { search: { websearchQuery: $words } }, orderBy: [{ search: { websearchQuery: $words } }]
) { nodes { sku } } }";

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn products_are_found_by_words(database: Database) {
    use Who::{Guest, Manager, Sofia};

    let found = |numbers: &[&str]| {
        let nodes: Vec<_> = numbers.iter().map(|sku| json!({ "sku": sku })).collect();
        json!({ "products": { "nodes": nodes } })
    };

    run(
        &shop(&database).await,
        &[
            case("the name counts more than the text", Guest, SEARCH)
                .with(json!({ "words": "espresso" }))
                .gives(found(&["espresso", "saucer"])),
            case("another form of the word", Guest, SEARCH)
                .with(json!({ "words": "flower" }))
                .gives(found(&["vase"])),
            case("without a word", Guest, SEARCH)
                .with(json!({ "words": "cup -coffee -tea" }))
                .gives(found(&["saucer"])),
            case("words in quotes", Guest, SEARCH)
                .with(json!({ "words": "\"large cup\"" }))
                .gives(found(&["mug"])),
            case("nothing", Guest, SEARCH)
                .with(json!({ "words": "bicycle" }))
                .gives(found(&[])),
            case("what is not for sale is not found", Guest, SEARCH)
                .with(json!({ "words": "lamp" }))
                .gives(found(&[])),
            case("but by the staff", Manager, SEARCH)
                .with(json!({ "words": "lamp" }))
                .gives(found(&["prototype"])),
            case("the other shop has words of its own", Sofia, SEARCH)
                .with(json!({ "words": "garden" }))
                .gives(found(&["mug"])),
        ],
    )
    .await;
}
