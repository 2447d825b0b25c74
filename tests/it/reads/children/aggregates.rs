//! Aggregates of children.

use serde_json::json;

use super::Shop;

const ALL: &str = "count sum { stars weight } avg { stars } min { writtenOn body } max { stars }";

#[tokio::test]
async fn each_parent_has_its_own_aggregates() {
    let shop = Shop::open().await;
    let apple = json!({
        "count": 3, "sum": {"stars": 13, "weight": 1.75}, "avg": {"stars": 13.0 / 3.0},
        "min": {"writtenOn": "2024-01-01", "body": "fine"}, "max": {"stars": 5},
    });
    let none = json!({
        "count": 0, "sum": {"stars": null, "weight": null}, "avg": {"stars": null},
        "min": {"writtenOn": null, "body": null}, "max": {"stars": null},
    });
    for (root, shout) in [
        ("products(orderBy: [{id: ASC}])", ""),
        ("products(orderBy: [{id: ASC}])", "shout"),
        ("held", ""),
    ] {
        let answer = shop.same(&format!(
            "{{ products: {root} {{ {shout} reviewsAggregate {{ {ALL} }} few: reviewsAggregate(where: {{stars: {{lt: 4}}}}) {{ count }} }} }}"
        ))
        .await;
        let products = answer["products"].as_array().unwrap();
        assert_eq!(products[0]["reviewsAggregate"], apple, "{root}");
        assert_eq!(products[3]["reviewsAggregate"], none, "{root}");
        let few: Vec<_> = products
            .iter()
            .map(|product| product["few"]["count"].as_i64().unwrap())
            .collect();
        assert_eq!(few, [1, 1, 0, 0], "{root}");
    }
    let answer = shop
        .same(&format!("{{ made {{ reviewsAggregate {{ {ALL} }} }} }}"))
        .await;
    let of = |aggregate| json!({"reviewsAggregate": aggregate});
    assert_eq!(answer["made"], json!([of(&apple), of(&none), of(&none)]));
}

#[tokio::test]
async fn groups_are_computed_for_each_parent() {
    let shop = Shop::open().await;
    for (root, shout) in [
        ("products(orderBy: [{id: ASC}])", ""),
        ("products(orderBy: [{id: ASC}])", "shout"),
        ("held", ""),
    ] {
        let answer = shop.same(&format!(
            "{{ products: {root} {{ {shout}
                 by: reviewsAggregate {{ groups(by: [STARS], orderBy: [{{count: DESC}}]) {{ key {{ stars }} count sum {{ weight }} }} }}
                 one: reviewsAggregate {{ groups(by: [STARS], limit: 1, offset: 1) {{ key {{ stars }} }} }}
                 all: reviewsAggregate {{ groups {{ count }} }} }} }}"
        ))
        .await;
        let group = |stars: i32, count: i32, weight: serde_json::Value| json!({"key": {"stars": stars}, "count": count, "sum": {"weight": weight}});
        let products = answer["products"].as_array().unwrap();
        assert_eq!(
            products[0]["by"]["groups"],
            json!([group(5, 2, json!(1.75)), group(3, 1, json!(null))]),
            "{root}"
        );
        assert_eq!(
            products[1]["by"]["groups"],
            json!([group(1, 1, json!(2)), group(4, 1, json!(null))]),
            "{root}"
        );
        assert_eq!(products[3]["by"]["groups"], json!([]), "{root}");
        assert_eq!(
            products[0]["one"]["groups"],
            json!([{"key": {"stars": 5}}]),
            "{root}"
        );
        assert_eq!(
            products[0]["all"]["groups"],
            json!([{"count": 3}]),
            "{root}"
        );
        assert_eq!(
            products[3]["all"]["groups"],
            json!([{"count": 0}]),
            "{root}"
        );
    }
}

#[tokio::test]
async fn aggregates_nest_behind_joins() {
    let shop = Shop::open().await;
    let answer = shop
        .same(
            "{ categories(orderBy: [{id: ASC}]) {
             productsAggregate { count sum { price } groups(by: [NAME]) { key { name } count } }
             products { name reviewsAggregate { count } } } }",
        )
        .await;
    let group = |name: &str| json!({"key": {"name": name}, "count": 1});
    let product = |name: &str, count| json!({"name": name, "reviewsAggregate": {"count": count}});
    assert_eq!(
        answer["categories"],
        json!([
            // Two rows that join the same pair count once.
            {"productsAggregate": {"count": 2, "sum": {"price": "4.50"}, "groups": [group("apple"), group("bread")]},
             "products": [product("bread", 2), product("apple", 3)]},
            {"productsAggregate": {"count": 1, "sum": {"price": "1.50"}, "groups": [group("apple")]},
             "products": [product("apple", 3)]},
            {"productsAggregate": {"count": 0, "sum": {"price": null}, "groups": []}, "products": []},
        ])
    );
}
