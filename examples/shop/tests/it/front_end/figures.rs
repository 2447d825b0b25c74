//! Counts, sums and groups.

use svc::serde_json::json;
use svc::testing::Database;

use super::{case, run};
use crate::who::{Who, shop};

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn figures_count_only_rows_of_the_shop(database: Database) {
    use Who::{Clerk, Guest, Manager, SouthManager};

    run(&shop(&database).await, &[
        case("how many products, and from where to where", Guest,
            "{ productStatistics { count min { price } max { price } } }")
            .gives(json!({ "productStatistics": { "count": 10, "min": { "price": "3.20" }, "max": { "price": "39.00" } } })),
        case("the same for the staff", Manager, "{ productStatistics { count max { price } } }")
            .gives(json!({ "productStatistics": { "count": 11, "max": { "price": "79.00" } } })),
        case("a condition through a relation", Guest,
            "{ productStatistics(where: { categories: { some: { name: { eq: \"Gifts\" } } } }) { count sum { stock } } }")
            .gives(json!({ "productStatistics": { "count": 3, "sum": { "stock": 15 } } })),
        case("what was sold", Clerk, "{ sales { count sum { quantity total } } }")
            .gives(json!({ "sales": { "count": 5, "sum": { "quantity": 10, "total": "105.40" } } })),
        case("what the other shop has sold", SouthManager, "{ sales { count sum { quantity total } } }")
            .gives(json!({ "sales": { "count": 1, "sum": { "quantity": 2, "total": "70.00" } } })),
        case("by price", Clerk,
            "{ sales { groups(by: [PRICE], orderBy: [{ sum: { total: DESC } }], limit: 2) { key { price } sum { total } } } }")
            .gives(json!({ "sales": { "groups": [
                { "key": { "price": "39.00" }, "sum": { "total": "39.00" } },
                { "key": { "price": "8.50" }, "sum": { "total": "34.00" } },
            ] } })),
        case("what has cost what", Manager, "{ productStatistics { sum { cost } } }")
            .gives(json!({ "productStatistics": { "sum": { "cost": "93.60" } } })),
        case("costs are the manager's", Clerk, "{ productStatistics { sum { cost } } }").fails("FORBIDDEN"),
    ]).await;
}
