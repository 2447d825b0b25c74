//! Walks through whole lists, page by page.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use svc_tests::App;

use super::{app, ids};

/// Walks a list page by page with cursors and gives the ids in the order in which they came.
pub(super) async fn walk(
    app: &App,
    root: &str,
    arguments: &str,
    size: usize,
    backward: bool,
) -> Vec<String> {
    let (count, bound, more, cursor) = if backward {
        ("last", "before", "hasPreviousPage", "startCursor")
    } else {
        ("first", "after", "hasNextPage", "endCursor")
    };
    let mut pages: Vec<Vec<String>> = Vec::new();
    let mut at = Value::Null;
    loop {
        let query = format!(
            "query ($at: String) {{ list: {root}({count}: {size}, {bound}: $at{arguments}) {{ nodes {{ id }}
               edges {{ cursor node {{ id }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"
        );
        let list = app.query_with(&query, json!({"at": at})).await.data()["list"].clone();
        let page = ids(&list["nodes"]);
        assert!(page.len() <= size);
        let edges = list["edges"].as_array().unwrap();
        assert_eq!(
            edges
                .iter()
                .map(|edge| edge["node"]["id"].as_str().unwrap())
                .collect::<Vec<_>>(),
            page
        );
        let info = &list["pageInfo"];
        assert_eq!(
            info["startCursor"],
            edges
                .first()
                .map_or(Value::Null, |edge| edge["cursor"].clone())
        );
        assert_eq!(
            info["endCursor"],
            edges
                .last()
                .map_or(Value::Null, |edge| edge["cursor"].clone())
        );
        // What was walked already lies on the other side.
        let behind = if backward {
            "hasNextPage"
        } else {
            "hasPreviousPage"
        };
        assert_eq!(
            info[behind],
            !pages.is_empty(),
            "{root}({arguments}) {behind}"
        );
        pages.push(page);
        if info[more] == false {
            break;
        }
        assert_eq!(
            pages.last().unwrap().len(),
            size,
            "a page with another behind it is full"
        );
        at = info[cursor].clone();
    }
    if backward {
        pages.reverse();
    }
    pages.concat()
}

pub(super) async fn walk_by_offset(
    app: &App,
    root: &str,
    arguments: &str,
    size: usize,
) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        let offset = found.len();
        let query =
            format!("{{ list: {root}(limit: {size}, offset: {offset}{arguments}) {{ id }} }}");
        let page = ids(&app.query(&query).await.data()["list"]);
        if page.is_empty() {
            return found;
        }
        found.extend(page);
    }
}

fn random_arguments(random: &mut StdRng) -> String {
    let mut fields = vec!["id", "name", "rank", "price", "at", "note"];
    let directions = [
        "ASC",
        "DESC",
        "ASC_NULLS_FIRST",
        "ASC_NULLS_LAST",
        "DESC_NULLS_FIRST",
        "DESC_NULLS_LAST",
    ];
    let mut keys = Vec::new();
    for _ in 0..random.random_range(0..4) {
        let field = fields.remove(random.random_range(0..fields.len()));
        keys.push(format!(
            "{{{field}: {}}}",
            directions[random.random_range(0..directions.len())]
        ));
    }
    let conditions = [
        "",
        "",
        ", where: {rank: {gt: 1}}",
        ", where: {note: {isnull: false}}",
        ", where: {name: {neq: \"name 1\"}}",
        ", where: {OR: [{rank: {isnull: true}}, {price: {eq: \"1.1\"}}]}",
        ", where: {name: {eq: \"nobody\"}}",
    ];
    format!(
        ", orderBy: [{}]{}",
        keys.join(", "),
        conditions[random.random_range(0..conditions.len())]
    )
}

/// By cursor, backward and by offset, over keys that many rows share.
#[tokio::test]
async fn every_walk_yields_each_row_once() {
    let seed = std::env::var("PAGES_SEED").map_or(20, |seed| seed.parse().unwrap());
    let mut random = StdRng::seed_from_u64(seed);
    let (_database, app) = app().await;
    for round in 0..40 {
        let arguments = random_arguments(&mut random);
        let size = random.random_range(1..12) + round % 3 * 20;
        let (connection, list) = [
            ("columns", "columnList"),
            ("data", "dataList"),
            ("table", "tableList"),
        ][round % 3];
        let whole = ids(&app
            .query(&format!(
                "{{ list: columnList(limit: 100{arguments}) {{ id }} }}"
            ))
            .await
            .data()["list"]);
        let total = app
            .query(&format!(
                "{{ list: columns(first: 1{arguments}) {{ totalCount }} }}"
            ))
            .await
            .data();
        assert_eq!(total["list"]["totalCount"], whole.len(), "{arguments}");
        let case = format!("seed {seed}, round {round}: {connection}({arguments}) by {size}");
        assert_eq!(
            walk_by_offset(&app, list, &arguments, size).await,
            whole,
            "offset, {case}"
        );
        assert_eq!(
            walk(&app, connection, &arguments, size, false).await,
            whole,
            "forward, {case}"
        );
        assert_eq!(
            walk(&app, connection, &arguments, size, true).await,
            whole,
            "backward, {case}"
        );
    }
}

/// With one cursor or two, read from either end.
#[tokio::test]
async fn pages_between_random_cursors_have_the_rows_between() {
    let mut random = StdRng::seed_from_u64(svc_tests::seed("PAGES_SEED", 20));
    let (_database, app) = app().await;
    for round in 0..60 {
        let arguments = random_arguments(&mut random);
        let connection = ["columns", "data", "table"][round % 3];
        let all = format!(
            "{{ list: {connection}(first: 100{arguments}) {{ edges {{ cursor node {{ id }} }} }} }}"
        );
        let all = app.query(&all).await.data()["list"]["edges"].clone();
        let all = all.as_array().unwrap();
        if all.len() < 2 {
            continue;
        }

        let after = random.random_range(0..all.len() - 1);
        let before = random.random_range(after + 1..all.len());
        let (is_after, is_before) = (random.random_bool(0.7), random.random_bool(0.7));
        let start = if is_after { after + 1 } else { 0 };
        let end = if is_before { before } else { all.len() };
        let bound = |is_given: bool, name: &str, at: usize| match is_given {
            true => format!(", {name}: {}", all[at]["cursor"]),
            false => String::new(),
        };
        let bounds =
            bound(is_after, "after", after) + &bound(is_before, "before", before) + &arguments;

        let size = random.random_range(0..12);
        for count in ["first", "last"] {
            let query = format!(
                "{{ list: {connection}({count}: {size}{bounds}) {{ edges {{ cursor node {{ id }} }}
                    pageInfo {{ hasNextPage hasPreviousPage }} }} }}"
            );
            let page = app.query(&query).await.data()["list"].clone();
            let is_more = end - start > size;
            let (rows, info) = if count == "first" {
                (start..end.min(start + size), (is_more, is_after))
            } else {
                (
                    start.max(end.saturating_sub(size))..end,
                    (is_before, is_more),
                )
            };
            assert_eq!(page["edges"].as_array().unwrap(), &all[rows], "{query}");
            let info = json!({"hasNextPage": info.0, "hasPreviousPage": info.1});
            assert_eq!(page["pageInfo"], info, "{query}");
        }
    }
}
