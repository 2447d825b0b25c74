//! Pages with cursors.

use svc::serde_json::json;
use svc::testing::Database;

use super::{case, run};
use crate::who::{Who, shop};

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn pages_have_ends(database: Database) {
    use Who::{Guest, Manager, SouthManager};

    run(
        &shop(&database).await,
        &[
            case(
                "a first page",
                Guest,
                "{ products(first: 4) { totalCount nodes { sku } pageInfo { hasNextPage hasPreviousPage } } }",
            )
            .gives(json!({ "products": {
                "totalCount": 10,
                "nodes": [{ "sku": "candle" }, { "sku": "plate" }, { "sku": "espresso" }, { "sku": "jug" }],
                "pageInfo": { "hasNextPage": true, "hasPreviousPage": false },
            } })),
            case(
                "a last page",
                Guest,
                "{ products(last: 2) { nodes { sku } pageInfo { hasNextPage hasPreviousPage } } }",
            )
            .gives(json!({ "products": {
                "nodes": [{ "sku": "teapot" }, { "sku": "vase" }],
                "pageInfo": { "hasNextPage": false, "hasPreviousPage": true },
            } })),
            case("all that the staff sees", Manager, "{ products { totalCount } }")
                .gives(json!({ "products": { "totalCount": 11 } })),
            case("the other shop is smaller", SouthManager, "{ products { totalCount nodes { sku } } }")
                .gives(json!({ "products": { "totalCount": 2, "nodes": [{ "sku": "spade" }, { "sku": "mug" }] } })),
            case("both ends at once", Guest, "{ products(first: 2, last: 2) { totalCount } }").fails("BAD_USER_INPUT"),
            case("a cursor that is none", Guest, "{ products(first: 2, after: \"x\") { totalCount } }")
                .fails("BAD_USER_INPUT"),
            case("too much at once", Guest, "{ products(first: 5000) { totalCount } }").fails("BAD_USER_INPUT"),
        ],
    )
    .await;
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn cursors_walk_all_products(database: Database) {
    let client = shop(&database).await;
    let document =
        "query ($after: String) { products(first: 3, after: $after, orderBy: [{ price: ASC }]) {
        nodes { sku } pageInfo { hasNextPage endCursor } } }";
    let (mut seen, mut after) = (Vec::new(), json!(null));
    loop {
        let answer = Who::Guest
            .of(&client)
            .query(document)
            .variable("after", after)
            .await;

        let page = &answer.data()["products"];
        seen.extend(
            page["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|node| node["sku"].as_str().unwrap().to_owned()),
        );

        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }

        after = page["pageInfo"]["endCursor"].clone();
    }

    let by_price = [
        "saucer", "espresso", "mug", "candle", "bowl", "plate", "planter", "jug", "vase", "teapot",
    ];
    assert_eq!(seen, by_price);

    // A cursor of one shop is a place in the list of another, and shows nothing of it.
    let answer = Who::Sofia
        .of(&client)
        .query(document)
        .variable("after", json!(null))
        .await;

    assert_eq!(
        answer.data()["products"]["nodes"],
        json!([{ "sku": "mug" }, { "sku": "spade" }])
    );
}
