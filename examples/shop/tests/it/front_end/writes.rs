//! Mutations: by functions and by tables, and what refuses them.

use svc::serde_json::{Value, json};
use svc::testing::Database;

use super::{case, run};
use crate::who::{ADA, BOB, SOUTH, Who, product, shop};

const ADD: &str =
    "mutation ($input: [NewProduct!]!) { createProducts(input: $input) { sku stock published } }";
const CHANGE: &str = "mutation ($id: UUID!, $input: ProductPatch!) { updateProduct(id: $id, input: $input) { price published } }";
const CHANGE_ALL: &str = "mutation ($where: ProductWhere!, $input: ProductPatch!) { updateProducts(where: $where, input: $input) { sku published } }";
const REVIEW: &str = "mutation ($input: NewReview!) { createReview(input: $input) { stars customer { name } product { reviewCount } } }";
const MOVE: &str = "mutation ($id: UUID!, $to: [UUID!]!) { setCategories(product: $id, categories: $to) { categories { name } } }";
const RENAME: &str = "mutation ($id: UUID!, $input: CustomerPatch!) { updateCustomer(id: $id, input: $input) { name city } }";

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn the_staff_writes_products(database: Database) {
    use Who::{Ada, Clerk, Guest, Manager, SouthManager};

    let client = shop(&database).await;
    let (mug, lamp) = (
        product(&client, "mug").await,
        product(&client, "prototype").await,
    );
    let added = |sku: &str, price: &str| json!({ "sku": sku, "name": "New", "price": price });
    let input = |items: &[Value]| json!({ "input": items });

    run(&client, &[
        case("two at once", Clerk, ADD)
            .with(input(&[added("tray", "19"), json!({ "sku": "tile", "name": "Tile", "price": "4", "stock": 40 })]))
            .gives(json!({ "createProducts": [
                { "sku": "tray", "stock": 0, "published": false }, { "sku": "tile", "stock": 40, "published": false },
            ] })),
        case("a number that is taken", Clerk, ADD)
            .with(input(&[added("cloth", "3"), added("mug", "3")]))
            .says("CONFLICT", "another product has this number"),
        case("all or none", Clerk, "{ product(sku: \"cloth\") { name } }").gives(json!({ "product": null })),
        case("the number is free in the other shop", SouthManager, ADD)
            .with(input(&[added("espresso", "3")]))
            .gives(json!({ "createProducts": [{ "sku": "espresso", "stock": 0, "published": false }] })),
        case("a price of nothing", Clerk, ADD).with(input(&[added("gift", "0")])).says("BAD_USER_INPUT", "above zero"),
        case("a stock below zero", Clerk, ADD)
            .with(input(&[json!({ "sku": "gift", "name": "Gift", "price": "1", "stock": -1 })]))
            .fails("BAD_USER_INPUT"),
        case("customers add nothing", Ada, ADD).with(input(&[added("x", "1")])).fails("FORBIDDEN"),
        case("a product goes on sale", Clerk, CHANGE)
            .with(json!({ "id": lamp, "input": { "published": true, "price": "69.90" } }))
            .gives(json!({ "updateProduct": { "price": "69.90", "published": true } })),
        case("and everybody sees it", Guest, "{ product(sku: \"prototype\") { name } }")
            .gives(json!({ "product": { "name": "Lamp" } })),
        case("not from another shop", SouthManager, CHANGE)
            .with(json!({ "id": mug, "input": { "price": "0.01" } }))
            .fails("NOT_FOUND"),
        case("other categories", Clerk, MOVE)
            .with(json!({ "id": mug, "to": ["10000000-0000-4000-8000-00000000ca06", "10000000-0000-4000-8000-00000000ca02"] }))
            .gives(json!({ "setCategories": { "categories": [{ "name": "Gifts" }, { "name": "Cups" }] } })),
        case("what was sold stays", Manager, "mutation ($id: UUID!) { deleteProduct(id: $id) { sku } }")
            .with(json!({ "id": mug }))
            .says("BAD_USER_INPUT", "take it off sale instead"),
        case("what was not may go", Manager, "mutation ($id: UUID!) { deleteProduct(id: $id) { sku } }")
            .with(json!({ "id": lamp }))
            .gives(json!({ "deleteProduct": { "sku": "prototype" } })),
        case("a category in another", Clerk,
            "mutation { createCategory(input: { name: \"Pots\", parentId: \"10000000-0000-4000-8000-00000000ca05\" }) { parent { name } } }")
            .gives(json!({ "createCategory": { "parent": { "name": "Garden" } } })),
        case("not below one of another shop", Clerk,
            "mutation { createCategory(input: { name: \"Pots\", parentId: \"20000000-0000-4000-8000-00000000ca01\" }) { name } }")
            .says("BAD_USER_INPUT", "there is no such category"),
        case("a price beyond its column", Clerk, ADD)
            .with(input(&[added("dear", "100000000")]))
            .says("BAD_USER_INPUT", "too long or too large for its column"),
        case("categories of the shop alone", Clerk, MOVE)
            .with(json!({ "id": mug, "to": ["20000000-0000-4000-8000-00000000ca01"] }))
            .says("BAD_USER_INPUT", "there is no such category"),
        case("products of the shop alone", Clerk, MOVE)
            .with(json!({ "id": "20000000-0000-4000-8000-0000000000ff", "to": [] }))
            .says("BAD_USER_INPUT", "there is no such product"),
    ]).await;
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn the_staff_changes_several_products_at_once(database: Database) {
    use Who::{Ada, Clerk, Guest};

    let client = shop(&database).await;
    let off_sale = json!({ "published": false });

    run(&client, &[
        case("several go off sale, but not in another shop", Clerk, CHANGE_ALL)
            .with(json!({ "where": { "sku": { "in": ["jug", "spade", "vase"] } }, "input": off_sale }))
            .gives(json!({ "updateProducts": [
                { "sku": "vase", "published": false }, { "sku": "jug", "published": false },
            ] })),
        case("and guests no longer see them", Guest, "{ product(sku: \"vase\") { name } }")
            .gives(json!({ "product": null })),
        case("costs are the manager's", Clerk, CHANGE_ALL)
            .with(json!({ "where": { "cost": { "lt": "5" } }, "input": off_sale }))
            .fails("FORBIDDEN"),
        case("customers change nothing", Ada, CHANGE_ALL)
            .with(json!({ "where": {}, "input": off_sale }))
            .fails("FORBIDDEN"),
    ]).await;
}

#[svc::test(sql = shop::SETUP_SQL, role = shop::ROLE)]
async fn customers_write_only_their_own_rows(database: Database) {
    use Who::{Ada, Bob, Cleo, Clerk, Manager};

    let client = shop(&database).await;
    let mug = product(&client, "mug").await;
    let review = |stars: i32| json!({ "input": { "productId": mug, "stars": stars, "body": "It holds tea." } });

    run(&client, &[
        case("a review in one's own name", Ada, REVIEW)
            .with(review(5))
            .gives(json!({ "createReview": { "stars": 5, "customer": { "name": "Ada" }, "product": { "reviewCount": 1 } } })),
        case("once only", Ada, REVIEW).with(review(4)).says("CONFLICT", "reviewed this product already"),
        case("of what is there", Ada, REVIEW)
            .with(json!({ "input": { "productId": BOB, "stars": 5, "body": "What is it?" } }))
            .says("BAD_USER_INPUT", "there is no such product"),
        case("six stars", Bob, REVIEW).with(review(6)).says("BAD_USER_INPUT", "at least 1 and at most 5"),
        case("the staff writes none", Clerk, REVIEW).with(review(1)).fails("FORBIDDEN"),
        case("a new name for oneself", Cleo, RENAME)
            .with(json!({ "id": "10000000-0000-4000-8000-0000000000c1", "input": { "name": "Cleopatra", "city": "Rome" } }))
            .gives(json!({ "updateCustomer": { "name": "Cleopatra", "city": "Rome" } })),
        case("not for others", Cleo, RENAME).with(json!({ "id": BOB, "input": { "name": "B" } })).fails("NOT_FOUND"),
        case("the staff may", Clerk, RENAME)
            .with(json!({ "id": ADA, "input": { "city": null } }))
            .gives(json!({ "updateCustomer": { "name": "Ada", "city": null } })),
        case("a name cannot be cleared", Clerk, RENAME)
            .with(json!({ "id": ADA, "input": { "name": null } }))
            .fails("BAD_USER_INPUT"),
    ]).await;

    // A review of Bob's: Ada cannot remove it, a manager can.
    let pool = database.pool().unwrap();
    let query = "SELECT id::text FROM tb_review WHERE body = 'It drips.'";
    let id: String = svc::sqlx::query_scalar(query)
        .fetch_one(&pool)
        .await
        .unwrap();
    let remove = "mutation ($id: UUID!) { deleteReview(id: $id) { body } }";
    run(
        &client,
        &[
            case("the review of another", Ada, remove)
                .with(json!({ "id": id }))
                .fails("NOT_FOUND"),
            case("the staff removes it", Manager, remove)
                .with(json!({ "id": id }))
                .gives(json!({ "deleteReview": { "body": "It drips." } })),
        ],
    )
    .await;

    let rows = "SELECT count(*) FROM tb_product WHERE tenant_id = $1::text::uuid AND sku IN ('mug', 'spade')";
    let untouched: i64 = svc::sqlx::query_scalar(rows)
        .bind(SOUTH)
        .fetch_one(&pool)
        .await
        .unwrap();

    assert_eq!(untouched, 2);
}
