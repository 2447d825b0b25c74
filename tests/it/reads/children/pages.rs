//! Pages of children.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use svc_tests::TestDatabase;

use super::{KINDS, Shop, app, sql};

const PAGE: &str = "{ totalCount nodes { id stars } pageInfo { hasNextPage hasPreviousPage } }";

#[tokio::test]
async fn each_parent_has_its_own_page() {
    let shop = Shop::open().await;
    for root in [
        "products(orderBy: [{id: ASC}])",
        "held",
        "products(orderBy: [{id: ASC}]) @include(if: true)",
    ] {
        let shout = if root.contains("include") {
            "shout"
        } else {
            "id"
        };
        let answer = shop
            .same(&format!(
                "{{ products: {root} {{ {shout} reviewsConnection(first: 2, orderBy: [{{stars: DESC}}]) {PAGE} }} }}"
            ))
            .await;
        let pages: Vec<&Value> = answer["products"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| &row["reviewsConnection"])
            .collect();
        let info = |next: bool| json!({"hasNextPage": next, "hasPreviousPage": false});
        assert_eq!(
            pages,
            [
                &json!({"totalCount": 3, "nodes": [{"id": 3, "stars": 5}, {"id": 1, "stars": 5}], "pageInfo": info(true)}),
                &json!({"totalCount": 2, "nodes": [{"id": 5, "stars": 4}, {"id": 4, "stars": 1}], "pageInfo": info(false)}),
                &json!({"totalCount": 1, "nodes": [{"id": 6, "stars": 5}], "pageInfo": info(false)}),
                &json!({"totalCount": 0, "nodes": [], "pageInfo": info(false)}),
            ],
            "{root}"
        );
    }
}

#[tokio::test]
async fn cursors_walk_the_pages_of_a_parent() {
    let shop = Shop::open().await;
    let page = "edges { cursor node { id } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage }";
    for shout in ["", "shout"] {
        let ask = async |arguments: String| {
            let query = format!(
                "{{ product(id: 1) {{ {shout} page: reviewsConnection({arguments}) {{ {page} }} }} }}"
            );
            shop.same(&query).await["product"]["page"].take()
        };
        let ids = |page: &Value| -> Vec<i64> {
            page["edges"]
                .as_array()
                .unwrap()
                .iter()
                .map(|edge| edge["node"]["id"].as_i64().unwrap())
                .collect()
        };
        let order = "orderBy: [{stars: DESC}, {weight: ASC}]";
        let first = ask(format!("first: 2, {order}")).await;
        assert_eq!(ids(&first), [1, 3]);
        assert_eq!(
            (
                &first["pageInfo"]["hasNextPage"],
                &first["pageInfo"]["hasPreviousPage"]
            ),
            (&json!(true), &json!(false))
        );
        let (start, end) = (
            first["pageInfo"]["startCursor"].clone(),
            first["pageInfo"]["endCursor"].clone(),
        );
        assert_eq!(first["edges"][1]["cursor"], end);
        let second = ask(format!("first: 2, after: {end}, {order}")).await;
        assert_eq!(ids(&second), [2]);
        assert_eq!(
            (
                &second["pageInfo"]["hasNextPage"],
                &second["pageInfo"]["hasPreviousPage"]
            ),
            (&json!(false), &json!(true))
        );
        let back = ask(format!(
            "last: 1, before: {}, {order}",
            second["edges"][0]["cursor"]
        ))
        .await;
        assert_eq!(ids(&back), [3]);
        assert_eq!(
            (
                &back["pageInfo"]["hasNextPage"],
                &back["pageInfo"]["hasPreviousPage"]
            ),
            (&json!(true), &json!(true))
        );
        assert_eq!(
            ids(&ask(format!("last: 5, before: {end}, after: {start}, {order}")).await),
            Vec::<i64>::new()
        );
    }
}

#[tokio::test]
async fn a_cursor_is_a_place_in_the_order_for_each_parent() {
    let shop = Shop::open().await;
    let answer = shop
        .same("{ product(id: 1) { reviewsConnection(first: 1, orderBy: [{writtenOn: ASC}]) { edges { cursor } } } }");
    let cursor = answer.await["product"]["reviewsConnection"]["edges"][0]["cursor"].take();
    let query = format!(
        "{{ products(orderBy: [{{id: ASC}}]) {{
             page: reviewsConnection(after: {cursor}, orderBy: [{{writtenOn: ASC}}]) {{ nodes {{ id }} }} }} }}"
    );
    let rows = |ids: &[i32]| json!({"page": {"nodes": ids.iter().map(|id| json!({"id": id})).collect::<Vec<_>>()}});
    assert_eq!(
        shop.same(&query).await["products"],
        json!([rows(&[2, 3]), rows(&[4, 5]), rows(&[6]), rows(&[])])
    );
}

#[tokio::test]
async fn invalid_page_arguments_are_refused() {
    let shop = Shop::open().await;
    let foreign = shop
        .same("{ product(id: 1) { reviewsConnection(first: 1) { edges { cursor } } } }")
        .await;
    let foreign = &foreign["product"]["reviewsConnection"]["edges"][0]["cursor"];
    for (arguments, message) in [
        ("first: 1, last: 1".to_owned(), "`first` or `last`"),
        ("first: -2".to_owned(), "`first` must not be negative"),
        ("last: -2".to_owned(), "`last` must not be negative"),
        ("last: 1001".to_owned(), "last is 1001, and at most 1000"),
        ("after: \"nonsense\"".to_owned(), "cursor"),
        (
            format!("after: {foreign}, orderBy: [{{stars: ASC}}]"),
            "cursor",
        ),
    ] {
        for shout in ["", "shout"] {
            let query = format!(
                "{{ products {{ {shout} reviewsConnection({arguments}) {{ totalCount }} }} }}"
            );
            let text = shop.refused(&query).await;
            assert!(
                text.contains("BAD_USER_INPUT") && text.contains(message),
                "{arguments}: {text}"
            );
        }
    }
}

/// A cursor that was made by hand may hold what its column cannot.
#[tokio::test]
async fn a_forged_cursor_is_a_client_error() {
    let shop = Shop::open().await;
    let order = "orderBy: [{stars: ASC}]";
    // Whether or not there are rows to compare with it.
    for (shout, rows) in [("", ""), ("shout", ""), ("", "where: {stars: {gt: 9}}, ")] {
        let page = |arguments: &str| {
            let rows = if arguments.contains("after") {
                rows
            } else {
                ""
            };
            format!(
                "{{ products {{ {shout} reviewsConnection({rows}{order}, {arguments}) {{ edges {{ cursor }} }} }} }}"
            )
        };
        let first = shop.same(&page("first: 1")).await;
        let cursor = first["products"][0]["reviewsConnection"]["edges"][0]["cursor"]
            .as_str()
            .unwrap()
            .to_owned();
        let (mark, keys): (u32, Vec<String>) =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(cursor).unwrap()).unwrap();
        for place in 0..keys.len() {
            for key in ["x", ""] {
                let mut keys = keys.clone();
                key.clone_into(&mut keys[place]);
                let forged = URL_SAFE_NO_PAD.encode(json!((mark, keys)).to_string());
                let query = page(&format!("first: 1, after: \"{forged}\""));
                for app in &shop.apps {
                    let text = app.query(&query).await.text;
                    let said = text.contains("BAD_USER_INPUT")
                        && text.contains("the cursor is not one of this list");
                    assert!(said, "{shout} {place} {key}: {text}");
                }
            }
        }
    }
}

#[tokio::test]
async fn pages_nest_with_aliases_behind_joins() {
    let shop = Shop::open().await;
    let answer = shop
        .same(
            "{ categories(orderBy: [{id: ASC}]) {
             name
             all: productsConnection { totalCount edges { node { name } } }
             one: productsConnection(first: 1, where: {name: {neq: \"bread\"}}) {
               nodes {
                 name
                 best: reviewsConnection(first: 1, orderBy: [{stars: DESC}, {id: ASC}]) {
                   edges { node { id product { name categories { name } } } } }
                 worst: reviewsConnection(last: 1, orderBy: [{stars: DESC}]) { nodes { id } }
                 reviews(limit: 1) { id } } } } }",
        )
        .await;
    let apple = json!({
        "name": "apple",
        "best": {"edges": [{"node": {"id": 1, "product": {"name": "apple", "categories": [{"name": "food"}, {"name": "fruit"}]}}}]},
        "worst": {"nodes": [{"id": 2}]},
        "reviews": [{"id": 1}],
    });
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| json!({"node": {"name": name}}))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        answer["categories"],
        json!([
            {"name": "food", "all": {"totalCount": 2, "edges": names(&["bread", "apple"])}, "one": {"nodes": [apple]}},
            {"name": "fruit", "all": {"totalCount": 1, "edges": names(&["apple"])}, "one": {"nodes": [apple]}},
            {"name": "none", "all": {"totalCount": 0, "edges": []}, "one": {"nodes": []}},
        ])
    );
}

#[tokio::test]
async fn methods_and_relations_of_the_rows_are_answered() {
    let shop = Shop::open().await;
    for root in ["product(id: 1) { id", "product(id: 1) { shout"] {
        let answer = shop
            .same(&format!(
                "{{ {root} page: reviewsConnection(first: 2) {{
                 nodes {{ loud product {{ shout reviewsConnection(first: 1) {{ nodes {{ loud }} }} }} }}
                 edges {{ node {{ id loud }} }} }} }} }}"
            ))
            .await;
        let product = json!({"shout": "APPLE", "reviewsConnection": {"nodes": [{"loud": "GOOD"}]}});
        assert_eq!(
            answer["product"]["page"],
            json!({
                "nodes": [{"loud": "GOOD", "product": product}, {"loud": "", "product": product}],
                "edges": [{"node": {"id": 1, "loud": "GOOD"}}, {"node": {"id": 2, "loud": ""}}],
            }),
            "{root}"
        );
    }
}

#[tokio::test]
async fn values_without_a_key_have_empty_pages() {
    let shop = Shop::open().await;
    let answer = shop.same(
        "{ made { id reviewsConnection(first: 1) { totalCount nodes { id } pageInfo { endCursor hasNextPage } } } }",
    );
    let page = |id, total, nodes: Value, next| {
        let page = json!({"totalCount": total, "nodes": nodes, "pageInfo": {"endCursor": null, "hasNextPage": next}});
        json!({"id": id, "reviewsConnection": page})
    };
    let mut answer = answer.await;
    answer["made"][0]["reviewsConnection"]["pageInfo"]["endCursor"].take();
    assert_eq!(
        answer["made"],
        json!([
            page(1, 3, json!([{"id": 1}]), true),
            page(99, 0, json!([]), false),
            page(0, 0, json!([]), false)
        ])
    );
}

#[tokio::test]
async fn planned_pages_of_children_are_one_statement() {
    let page = "reviewsConnection(first: 1) { totalCount edges { cursor node { id } } pageInfo { hasNextPage } }";
    let deep = "productsConnection(first: 3) { nodes { reviewsConnection(first: 3) { nodes { product { name } } }
                reviewsAggregate { count } } }";
    for (query, statements) in [
        (format!("{{ products {{ {page} again: {page} }} }}"), 1),
        (format!("{{ pages {{ nodes {{ {page} }} }} }}"), 1),
        (format!("{{ categories {{ {deep} }} }}"), 1),
        // Values in hand: one more for each relation and level.
        (format!("{{ products {{ shout {page} }} }}"), 2),
        (
            format!(
                "{{ held {{ {page} reviewsAggregate {{ count groups(by: [STARS]) {{ key {{ stars }} count }} }} }} }}"
            ),
            3,
        ),
        (
            "{ products { reviewsConnection { nodes { loud product { shout } } } } }".to_owned(),
            3,
        ),
    ] {
        for (kind, views) in KINDS.into_iter().zip(["\"c_", "\"d_", "\"tv_"]) {
            let database = TestDatabase::copy_of("children", &sql()).await;
            let app = app(&database, kind, |_, options| options).await;
            let before = database.statements(&format!("FROM {views}")).await;
            app.query(&query).await.data();
            assert_eq!(
                database.statements(&format!("FROM {views}")).await - before,
                statements,
                "{kind}: {query}"
            );
        }
    }
}
