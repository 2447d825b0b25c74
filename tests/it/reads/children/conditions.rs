//! Conditions on aggregates of children, and orders by them.

use serde_json::{Value, json};
use svc_tests::TestDatabase;

use super::{KINDS, Shop, app, sql};

async fn found(shop: &Shop, arguments: &str) -> Vec<String> {
    let answer = shop
        .same(&format!("{{ products({arguments}) {{ name }} }}"))
        .await;
    names(&answer["products"])
}

fn names(rows: &Value) -> Vec<String> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn rows_are_filtered_by_aggregates_of_their_children() {
    let shop = Shop::open().await;
    for (condition, expected) in [
        (
            "reviewsAggregate: {count: {gte: 2}}",
            &["apple", "bread"][..],
        ),
        ("reviewsAggregate: {count: {eq: 0}}", &["dust"]),
        // A comparison with null holds for no row.
        ("reviewsAggregate: {count: {gt: null}}", &[]),
        (
            "reviewsAggregate: {where: {stars: {lt: 5}}, max: {stars: {lte: null}}}",
            &[],
        ),
        (
            "NOT: {reviewsAggregate: {countDistinct: {stars: {in: null}}}}",
            &["apple", "bread", "cup", "dust"],
        ),
        ("reviewsAggregate: {min: {stars: {eq: null}}}", &["dust"]),
        ("reviewsAggregate: {count: {in: [1, 3]}}", &["apple", "cup"]),
        (
            "reviewsAggregate: {count: {gte: 1}, avg: {stars: {gt: 4}}}",
            &["apple", "cup"],
        ),
        ("reviewsAggregate: {sum: {stars: {eq: \"13\"}}}", &["apple"]),
        ("reviewsAggregate: {sum: {weight: {lt: 1.8}}}", &["apple"]),
        (
            "reviewsAggregate: {sum: {weight: {in: [1.75, 2.0]}}}",
            &["apple", "bread"],
        ),
        (
            "reviewsAggregate: {sum: {weight: {isnull: true}}}",
            &["cup", "dust"],
        ),
        (
            "reviewsAggregate: {max: {writtenOn: {gte: \"2024-01-04\"}}}",
            &["bread", "cup"],
        ),
        (
            "reviewsAggregate: {min: {body: {startswith: \"c\"}}}",
            &["bread"],
        ),
        (
            "reviewsAggregate: {where: {stars: {eq: 5}}, count: {gte: 2}}",
            &["apple"],
        ),
        (
            "reviewsAggregate: {count: {lt: 1}, where: {body: {isnull: false}}}",
            &["cup", "dust"],
        ),
        (
            "NOT: {reviewsAggregate: {avg: {stars: {gt: 4}}}}",
            &["bread", "dust"],
        ),
        (
            "AND: [{reviewsAggregate: {count: {gt: 1}}}, {reviewsAggregate: {where: {stars: {lt: 2}}, count: {eq: 1}}}]",
            &["bread"],
        ),
        (
            "OR: [{name: {eq: \"dust\"}}, {reviewsAggregate: {count: {eq: 1}}}]",
            &["cup", "dust"],
        ),
        ("categoriesAggregate: {count: {eq: 2}}", &["apple"]),
        (
            "categoriesAggregate: {where: {productsAggregate: {count: {eq: 2}}}, count: {eq: 1}}",
            &["apple", "bread"],
        ),
        (
            "reviews: {some: {product: {reviewsAggregate: {count: {eq: 2}}}}}",
            &["bread"],
        ),
    ] {
        assert_eq!(
            found(
                &shop,
                &format!("where: {{{condition}}}, orderBy: [{{id: ASC}}]")
            )
            .await,
            expected,
            "{condition}"
        );
    }
}

#[tokio::test]
async fn rows_are_ordered_by_aggregates_of_their_children() {
    let shop = Shop::open().await;
    for (order, expected) in [
        (
            "{reviewsAggregate: {count: DESC}}",
            &["apple", "bread", "cup", "dust"][..],
        ),
        (
            "{reviewsAggregate: {count: ASC}}",
            &["dust", "cup", "bread", "apple"],
        ),
        (
            "{reviewsAggregate: {avg: {stars: DESC_NULLS_LAST}}}",
            &["cup", "apple", "bread", "dust"],
        ),
        (
            "{reviewsAggregate: {avg: {stars: DESC}}}",
            &["dust", "cup", "apple", "bread"],
        ),
        (
            "{reviewsAggregate: {max: {stars: DESC_NULLS_LAST}, count: ASC}}",
            &["cup", "apple", "bread", "dust"],
        ),
        (
            "{reviewsAggregate: {where: {stars: {lt: 5}}, count: DESC, sum: {stars: ASC}}}, {name: DESC}",
            &["bread", "apple", "dust", "cup"],
        ),
        (
            "{reviewsAggregate: {where: {stars: {eq: 5}}, count: DESC}}, {name: DESC}",
            &["apple", "cup", "dust", "bread"],
        ),
        // The id breaks ties in the direction of the last key.
        (
            "{categoriesAggregate: {count: DESC}}",
            &["apple", "bread", "dust", "cup"],
        ),
    ] {
        assert_eq!(
            found(&shop, &format!("orderBy: [{order}]")).await,
            expected,
            "{order}"
        );
        assert_eq!(
            found(&shop, &format!("orderBy: [{order}], limit: 2, offset: 1")).await,
            expected[1..3],
            "{order}"
        );
    }
}

#[tokio::test]
async fn conditions_and_orders_reach_through_relations_and_into_children() {
    let shop = Shop::open().await;
    let answer = shop
        .same(
            "{ reviews(orderBy: [{product: {reviewsAggregate: {count: DESC_NULLS_LAST}}}, {id: DESC}]) { id }
           categories(orderBy: [{id: ASC}]) {
             products(where: {reviewsAggregate: {count: {gt: 2}}}) { name }
             page: productsConnection(first: 1, orderBy: [{reviewsAggregate: {count: ASC}}]) { nodes { name } }
             productsAggregate(where: {reviewsAggregate: {count: {gt: 2}}}) { count } } }",
        )
        .await;
    let ids: Vec<i64> = answer["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, [3, 2, 1, 5, 4, 6, 7]);
    let category = |products: &[&str], page: &[&str], count| {
        let rows = |names: &[&str]| {
            names
                .iter()
                .map(|name| json!({"name": name}))
                .collect::<Vec<_>>()
        };
        json!({"products": rows(products), "page": {"nodes": rows(page)}, "productsAggregate": {"count": count}})
    };
    assert_eq!(
        answer["categories"],
        json!([
            category(&["apple"], &["bread"], 1),
            category(&["apple"], &["apple"], 1),
            category(&[], &[], 0)
        ])
    );
}

#[tokio::test]
async fn cursors_resume_orders_by_child_aggregates() {
    let shop = Shop::open().await;
    for order in [
        "{reviewsAggregate: {count: DESC}}",
        "{reviewsAggregate: {count: ASC}}, {name: DESC}",
        "{reviewsAggregate: {avg: {stars: ASC}}}",
        "{reviewsAggregate: {avg: {stars: DESC}}}",
        "{reviewsAggregate: {sum: {weight: ASC_NULLS_FIRST}, count: DESC}}",
        "{reviewsAggregate: {min: {body: ASC}}}",
        "{reviewsAggregate: {where: {stars: {eq: 5}}, count: DESC}}",
        "{reviewsAggregate: {max: {writtenOn: DESC_NULLS_LAST}}}",
    ] {
        let whole = names(
            &shop
                .same(&format!("{{ products(orderBy: [{order}]) {{ name }} }}"))
                .await["products"],
        );
        for (first, before, cursor) in [
            ("first", "after", "endCursor"),
            ("last", "before", "startCursor"),
        ] {
            let (mut seen, mut place) = (Vec::new(), String::new());
            for _ in 0..whole.len() {
                let query = format!(
                    "{{ pages({first}: 1, {place} orderBy: [{order}]) {{ nodes {{ name }} pageInfo {{ {cursor} }} }} }}"
                );
                let answer = shop.same(&query).await;
                seen.extend(names(&answer["pages"]["nodes"]));
                place = format!("{before}: {},", answer["pages"]["pageInfo"][cursor]);
            }
            if first == "last" {
                seen.reverse();
            }
            assert_eq!(seen, whole, "{order} {first}");
        }
    }
}

#[tokio::test]
async fn a_cursor_of_another_order_is_refused() {
    let shop = Shop::open().await;
    let order = |stars: i32| {
        format!(
            "orderBy: [{{reviewsAggregate: {{where: {{stars: {{eq: {stars}}}}}, count: DESC}}}}]"
        )
    };
    let answer = shop
        .same(&format!(
            "{{ pages(first: 1, {}) {{ pageInfo {{ endCursor }} }} }}",
            order(5)
        ))
        .await;
    let cursor = &answer["pages"]["pageInfo"]["endCursor"];
    let text = shop
        .refused(&format!(
            "{{ pages(first: 1, after: {cursor}, {}) {{ nodes {{ id }} }} }}",
            order(4)
        ))
        .await;
    assert!(text.contains("BAD_USER_INPUT"), "{text}");
}

#[tokio::test]
async fn empty_and_null_aggregate_conditions_are_refused() {
    let shop = Shop::open().await;
    for (arguments, message) in [
        ("where: {reviewsAggregate: {}}", "compares nothing"),
        (
            "where: {reviewsAggregate: {where: {stars: {eq: 5}}}}",
            "compares nothing",
        ),
        ("where: {reviewsAggregate: null}", "is null"),
        ("where: {reviewsAggregate: {count: null}}", "is null"),
        ("where: {reviewsAggregate: {avg: {stars: null}}}", "is null"),
        (
            "where: {reviewsAggregate: {where: null, count: {eq: 1}}}",
            "is null",
        ),
        (
            "orderBy: [{reviewsAggregate: {where: null, count: ASC}}]",
            "is null",
        ),
    ] {
        let text = shop
            .refused(&format!("{{ products({arguments}) {{ id }} }}"))
            .await;
        assert!(
            text.contains("BAD_USER_INPUT") && text.contains(message),
            "{arguments}: {text}"
        );
    }
}

#[tokio::test]
async fn cached_statements_serve_other_values() {
    let database = TestDatabase::copy_of("children", &sql()).await;
    let query = "query ($count: Int!, $stars: Int!, $best: Int!, $first: Int!) {
        products(where: {reviewsAggregate: {count: {gte: $count}, where: {stars: {gte: $stars}}}},
                 orderBy: [{reviewsAggregate: {where: {stars: {eq: $best}}, count: DESC}}, {id: ASC}]) {
          name
          reviewsConnection(first: $first, where: {stars: {gte: $stars}}) { totalCount nodes { id } }
          reviewsAggregate(where: {stars: {eq: $best}}) { count } } }";
    for kind in KINDS {
        let app = app(&database, kind, |_, options| options).await;
        for (count, stars, best, first, expected) in [
            (
                1,
                1,
                5,
                2,
                json!([["apple", 3, 2, 2], ["cup", 1, 1, 1], ["bread", 2, 2, 0]]),
            ),
            (
                1,
                4,
                4,
                1,
                json!([["bread", 1, 1, 1], ["apple", 2, 1, 0], ["cup", 1, 1, 0]]),
            ),
            (2, 4, 5, 7, json!([["apple", 2, 2, 2]])),
            (
                0,
                6,
                3,
                0,
                json!([
                    ["apple", 0, 0, 1],
                    ["bread", 0, 0, 0],
                    ["cup", 0, 0, 0],
                    ["dust", 0, 0, 0]
                ]),
            ),
        ] {
            let variables = json!({"count": count, "stars": stars, "best": best, "first": first});
            let answer = app.query_with(query, variables).await.data();
            let row = |row: &Value| {
                let page = &row["reviewsConnection"];
                let nodes = page["nodes"].as_array().unwrap().len();
                json!([
                    row["name"],
                    page["totalCount"],
                    nodes,
                    row["reviewsAggregate"]["count"]
                ])
            };
            let rows: Vec<_> = answer["products"]
                .as_array()
                .unwrap()
                .iter()
                .map(row)
                .collect();
            assert_eq!(json!(rows), expected, "{kind}");
        }
    }
}
