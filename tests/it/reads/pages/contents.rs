//! What a page has, and the statement that reads it.

use serde_json::json;

use super::{app, ids};

#[tokio::test]
async fn a_page_between_two_cursors() {
    let (_database, app) = app().await;
    let query = "{ columns(first: 9, orderBy: [{rank: DESC}]) { edges { cursor node { id } } } }";
    let edges = app.query(query).await.data()["columns"]["edges"].clone();
    let cursor = |at: usize| edges[at]["cursor"].as_str().unwrap().to_owned();
    let between = |count: &str| {
        format!(
            "{{ columns({count}, after: \"{}\", before: \"{}\", orderBy: [{{rank: DESC}}]) {{ nodes {{ id }}
               pageInfo {{ hasNextPage hasPreviousPage }} }} }}",
            cursor(1),
            cursor(6)
        )
    };
    for (count, rows, next, previous) in [
        ("first: 10", 2..6, false, true),
        ("first: 2", 2..4, true, true),
        ("last: 2", 4..6, true, true),
    ] {
        let page = app.query(&between(count)).await.data()["columns"].clone();
        let expected: Vec<_> = rows
            .map(|at| edges[at]["node"]["id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(ids(&page["nodes"]), expected, "{count}");
        assert_eq!(
            page["pageInfo"],
            json!({"hasNextPage": next, "hasPreviousPage": previous}),
            "{count}"
        );
    }
}

#[tokio::test]
async fn rows_of_a_page_have_methods_aliases_and_fragments() {
    let (_database, app) = app().await;
    let answer = app
        .query(
            "{ a: columns(first: 1, orderBy: [{at: ASC}, {id: ASC}]) { __typename totalCount
                 first: nodes { name } second: nodes { label ...more }
                 edges { __typename c: cursor node { lateLabel } twice: node { rank } } pageInfo { __typename } } }
             fragment more on ColumnItem { lateLabel }",
        )
        .await
        .data();
    let page = &answer["a"];
    assert_eq!(page["__typename"], "ColumnItemConnection");
    assert_eq!(page["totalCount"], 61);
    assert_eq!(page["edges"][0]["__typename"], "ColumnItemEdge");
    assert_eq!(page["pageInfo"]["__typename"], "PageInfo");
    let name = page["first"][0]["name"].as_str().unwrap();
    let label = page["second"][0]["label"].as_str().unwrap();
    assert!(label.starts_with(name));
    assert_eq!(page["second"][0]["lateLabel"], label);
    assert_eq!(page["edges"][0]["node"]["lateLabel"], label);
    assert!(page["edges"][0]["twice"]["rank"].is_i64());
}

#[tokio::test]
async fn a_page_is_one_statement_and_counts_only_on_request() {
    let (database, app) = app().await;
    let mut before = 0;
    for query in [
        "{ columns { nodes { id } } }",
        "{ columns { nodes { id label } totalCount pageInfo { hasNextPage hasPreviousPage } } }",
        "{ columns { totalCount } }",
    ] {
        app.query(query).await.data();
        let after = database.statements("FROM \"c_item\"").await;
        assert_eq!(after - before, 1, "{query}");
        before = after;
    }
    assert_eq!(database.statements("count(*)").await, 2);
    app.query("{ columns { __typename } }").await.data();
    assert_eq!(database.statements("FROM \"c_item\"").await, before);
}
