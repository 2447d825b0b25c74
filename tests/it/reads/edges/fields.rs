//! Fields of the row that joins, on edges.

use serde_json::json;
use svc_tests::{App, TestDatabase};

use super::{ROOTS, kinds, options, sql};

#[tokio::test]
async fn edges_have_the_fields_of_the_join_row() {
    let kinds = kinds().await;
    let edges = |node: &str| {
        format!(
            "page: categoriesConnection(orderBy: [{{name: ASC}}]) {{
               totalCount edges {{ __typename note node {{ {node} }} position way tags shelf {{ row }} }} }}"
        )
    };
    let food = |position| {
        json!({"__typename": "ProductCategoriesEdge", "note": null, "node": {"it": "food"}, "position": position,
               "way": "BY_HAND", "tags": [], "shelf": null})
    };
    for (root, node) in ROOTS
        .into_iter()
        .flat_map(|root| [(root, "it: name"), (root, "loud it: name")])
    {
        let mut answer = kinds
            .same(&format!("{{ products: {root} {{ {} }} }}", edges(node)))
            .await;
        let pages = answer["products"].as_array_mut().unwrap();
        let edges = pages
            .iter_mut()
            .flat_map(|page| page["page"]["edges"].as_array_mut().unwrap());
        edges.for_each(|edge| drop(edge["node"].as_object_mut().unwrap().remove("loud")));
        assert_eq!(pages[0]["page"]["totalCount"], 3);
        assert_eq!(
            pages[0]["page"]["edges"],
            json!([
                food(3),
                {"__typename": "ProductCategoriesEdge", "note": "ripe", "node": {"it": "fruit"}, "position": 1,
                 "way": "IMPORTED", "tags": ["a", "b"], "shelf": {"row": 7}},
                {"__typename": "ProductCategoriesEdge", "note": "cheap", "node": {"it": "sale"}, "position": 2,
                 "way": "BY_HAND", "tags": [], "shelf": null},
            ]),
            "{root} {node}"
        );
        assert_eq!(pages[1]["page"]["edges"], json!([food(1)]), "{root} {node}");
    }
}

#[tokio::test]
async fn edges_are_read_at_any_depth_and_more_than_once() {
    let kinds = kinds().await;
    let answer = kinds.same(
        "{ categories(where: {name: {eq: \"sale\"}}) {
             goods(orderBy: [{id: DESC}], first: 1) {
               edges { position node { name categoriesConnection { edges { position node { name } } } } }
               again: edges { note position }
               nodes { shout }
               pageInfo { hasNextPage }
             } } }",
    )
    .await;
    let cup = json!([{
        "position": 5,
        "node": {"name": "cup", "categoriesConnection": {"edges": [{"position": 5, "node": {"name": "sale"}}]}},
    }]);
    let goods = &answer["categories"][0]["goods"];
    assert_eq!(goods["edges"], cup);
    assert_eq!(goods["again"], json!([{"note": "blue", "position": 5}]));
    assert_eq!(
        (
            &goods["nodes"][0]["shout"],
            &goods["pageInfo"]["hasNextPage"]
        ),
        (&json!("CUP"), &json!(true))
    );
}

#[tokio::test]
async fn a_read_of_edges_is_one_statement() {
    let database = TestDatabase::copy_of("edges", &sql()).await;
    for (kind, join) in [
        ("columns", "c_placing"),
        ("data", "d_placing"),
        ("table", "tv_placing"),
    ] {
        let app = App::serve(options(kind).database_url(database.url())).await;
        app.query("{ products { categoriesConnection { edges { position node { name } } } } }")
            .await
            .data();
        assert_eq!(database.statements(join).await, 1, "{kind}");
    }
}
