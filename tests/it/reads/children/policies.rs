//! Row policies, masks and gates of children hold in their pages and aggregates, and in conditions
//! and orders by these.

use serde_json::{Value, json};
use svc::prelude::*;

use super::{Shop, columns, data, table};

/// The reviews with less than five stars.
fn few_stars(_: &Context<'_>) -> Result<RowDecision> {
    Ok(RowDecision::allow_where(col("stars").lt(5)))
}

pub(super) fn governed(kind: &str, options: AppOptions) -> AppOptions {
    match kind {
        "columns" => options.row_policy::<columns::Review>(few_stars),
        "data" => options.row_policy::<data::Review>(few_stars),
        _ => options.row_policy::<table::Review>(few_stars),
    }
}

/// The weights of reviews with a body alone.
fn with_body(_: &Context<'_>) -> Result<RowDecision> {
    Ok(RowDecision::allow_where(col("body").is_null().not()))
}

fn masked(kind: &str, options: AppOptions) -> AppOptions {
    match kind {
        "columns" => options.mask_where::<columns::Review>("weight", with_body),
        "data" => options.mask_where::<data::Review>("weight", with_body),
        _ => options.mask_where::<table::Review>("weight", with_body),
    }
}

#[tokio::test]
async fn a_row_policy_binds_children() {
    let shop = Shop::with(governed).await;
    for shout in ["", "shout"] {
        let answer = shop
            .same(&format!(
                "{{ products(orderBy: [{{id: ASC}}]) {{ {shout}
                     reviewsConnection(first: 1) {{ totalCount nodes {{ id }} pageInfo {{ hasNextPage }} }}
                     reviewsAggregate {{ count max {{ stars }} groups(by: [STARS]) {{ key {{ stars }} count }} }} }} }}"
            ))
            .await;
        let product = |total, nodes: Value, next, max: Value, groups: Value| {
            let page =
                json!({"totalCount": total, "nodes": nodes, "pageInfo": {"hasNextPage": next}});
            (
                page,
                json!({"count": total, "max": {"stars": max}, "groups": groups}),
            )
        };
        let group = |stars: i32| json!({"key": {"stars": stars}, "count": 1});
        let expected = [
            product(1, json!([{"id": 2}]), false, json!(3), json!([group(3)])),
            product(
                2,
                json!([{"id": 4}]),
                true,
                json!(4),
                json!([group(1), group(4)]),
            ),
            product(0, json!([]), false, Value::Null, json!([])),
            product(0, json!([]), false, Value::Null, json!([])),
        ];
        for (row, (page, aggregate)) in answer["products"].as_array().unwrap().iter().zip(expected)
        {
            assert_eq!(
                (&row["reviewsConnection"], &row["reviewsAggregate"]),
                (&page, &aggregate)
            );
        }
    }
    for (arguments, expected) in [
        (
            "where: {reviewsAggregate: {count: {gte: 2}}}",
            json!([{"id": 2}]),
        ),
        (
            "where: {reviewsAggregate: {max: {stars: {eq: 5}}}}",
            json!([]),
        ),
        (
            "where: {reviewsAggregate: {where: {stars: {gte: 4}}, count: {gte: 1}}}",
            json!([{"id": 2}]),
        ),
        (
            "orderBy: [{reviewsAggregate: {count: DESC}}, {id: ASC}]",
            json!([{"id": 2}, {"id": 1}, {"id": 3}, {"id": 4}]),
        ),
        (
            "orderBy: [{reviewsAggregate: {max: {stars: DESC_NULLS_LAST}}}, {id: ASC}], limit: 1",
            json!([{"id": 2}]),
        ),
    ] {
        let answer = shop
            .same(&format!("{{ products({arguments}) {{ id }} }}"))
            .await;
        assert_eq!(answer["products"], expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_mask_binds_children() {
    let shop = Shop::with(masked).await;
    // A weight that nobody sees.
    shop.database.execute("UPDATE tb_review SET weight = 100 WHERE id = 6; UPDATE tv_review SET data = data || '{\"weight\": 100}' WHERE id = 6").await;
    let answer = shop
        .same(
            "{ products(orderBy: [{id: ASC}], limit: 3) {
                 reviewsAggregate { count sum { weight } groups(by: [WEIGHT]) { key { weight } count } }
                 reviewsConnection(first: 1, orderBy: [{weight: DESC_NULLS_LAST}]) { nodes { id weight } } }
               high: products(where: {reviewsAggregate: {max: {weight: {gt: 50}}}}) { id }
               sorted: products(orderBy: [{reviewsAggregate: {sum: {weight: DESC_NULLS_LAST}}}, {id: ASC}]) { id } }",
        )
        .await;
    let group = |weight: Value, count: i32| json!({"key": {"weight": weight}, "count": count});
    let of = |count, sum: Value, groups: Value, node: Value| {
        let computed = json!({"count": count, "sum": {"weight": sum}, "groups": groups});
        json!({"reviewsAggregate": computed, "reviewsConnection": {"nodes": [node]}})
    };
    let groups = json!([
        group(json!(0.5), 1),
        group(json!(1.25), 1),
        group(Value::Null, 1)
    ]);
    assert_eq!(
        answer["products"],
        json!([
            of(3, json!(1.75), groups, json!({"id": 3, "weight": 1.25})),
            of(
                2,
                json!(2),
                json!([group(json!(2), 1), group(Value::Null, 1)]),
                json!({"id": 4, "weight": 2})
            ),
            of(
                1,
                Value::Null,
                json!([group(Value::Null, 1)]),
                json!({"id": 6, "weight": null})
            ),
        ])
    );
    assert_eq!(answer["high"], json!([]));
    assert_eq!(
        answer["sorted"],
        json!([{"id": 2}, {"id": 1}, {"id": 3}, {"id": 4}])
    );
}
