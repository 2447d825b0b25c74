//! Pages: by offset and by cursor, forward and backward, over the three kinds of views.

use base64::Engine as _;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

macro_rules! item {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: Uuid,
            name: String,
            rank: Option<i32>,
            price: Decimal,
            at: DateTime<Utc>,
            note: Option<String>,
        }

        #[svc_type]
        impl $name {
            fn label(&self) -> String {
                format!("{} {:?}", self.name, self.rank)
            }

            async fn late_label(&self) -> String {
                tokio::task::yield_now().await;
                self.label()
            }
        }
    };
}

item!(ColumnItem, "c_item");
item!(DataItem, "d_item");
item!(TableItem, "tv_item");

#[svc::query]
async fn columns() -> Connection<ColumnItem>;
#[svc::query]
async fn data() -> Connection<DataItem>;
#[svc::query]
async fn table() -> Connection<TableItem>;
#[svc::query]
async fn column_list() -> Vec<ColumnItem>;
#[svc::query]
async fn data_list() -> Vec<DataItem>;
#[svc::query]
async fn table_list() -> Vec<TableItem>;

/// Rows that nothing tells apart.
#[svc_type(sql_source = "v_word")]
struct Word {
    name: String,
}

#[svc::query]
async fn words() -> Connection<Word>;

/// A page that a resolver returns, over the client's arguments and a condition of its own.
#[svc::query]
async fn ranked(
    ctx: &Context<'_>,
    r#where: Option<Where<ColumnItem>>,
    order_by: Option<OrderBy<ColumnItem>>,
    page: CursorPage,
) -> Result<Connection<ColumnItem>> {
    let items = ctx
        .db()
        .find::<ColumnItem>()
        .filter(col("rank").is_null().not());
    Ok(items
        .apply_where(r#where)
        .apply_order_by(order_by)
        .paginate(page))
}

#[svc::query]
async fn ranked_list(
    ctx: &Context<'_>,
    r#where: Option<Where<ColumnItem>>,
    order_by: Option<OrderBy<ColumnItem>>,
    page: Page,
) -> Result<Find<ColumnItem>> {
    let items = ctx
        .db()
        .find::<ColumnItem>()
        .filter(col("rank").is_null().not());
    Ok(items
        .apply_where(r#where)
        .apply_order_by(order_by)
        .page(page))
}

/// A page that a resolver looks into.
#[svc::query]
async fn names(ctx: &Context<'_>, page: CursorPage) -> Result<Vec<String>> {
    let slice = ctx
        .db()
        .find::<ColumnItem>()
        .order_by(asc("name"))
        .paginate(page)
        .await?;
    let mut names: Vec<String> = slice
        .edges
        .iter()
        .map(|edge| edge.node.name.clone())
        .collect();
    names.push(format!(
        "{} {}",
        slice.has_previous_page, slice.has_next_page
    ));
    names.extend(slice.edges.last().map(|edge| edge.cursor.clone()));
    Ok(names)
}

const SQL: &str = r"
CREATE TABLE tb_item (id uuid PRIMARY KEY, name text NOT NULL, rank int, price numeric NOT NULL, at timestamptz NOT NULL, note text);
INSERT INTO tb_item SELECT md5(n::text)::uuid, 'name ' || n % 4, nullif(n % 5, 3), (n % 3) * 1.10,
  '2024-01-01T00:00:00Z'::timestamptz + (n % 6) * interval '1 hour 0.000001 s', CASE WHEN n % 7 > 2 THEN 'n' || n % 2 END
  FROM generate_series(1, 61) n;
CREATE VIEW v_word AS SELECT name FROM tb_item;
";

async fn app() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of(
        "pages",
        &(SQL.to_owned() + &three_views("item", "id, rank")),
    )
    .await;
    let queries = queries![
        columns,
        data,
        table,
        column_list,
        data_list,
        table_list,
        ranked,
        ranked_list,
        names,
        words
    ];
    let limits = svc::Limits {
        complexity: 10_000,
        ..svc::Limits::default()
    };
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .limits(limits)
        .queries(queries);
    let app = App::serve(options).await;
    (database, app)
}

fn ids(rows: &Value) -> Vec<String> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Walks a list page by page with cursors and gives the ids in the order in which they came.
async fn walk(app: &App, root: &str, arguments: &str, size: usize, backward: bool) -> Vec<String> {
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

async fn walk_by_offset(app: &App, root: &str, arguments: &str, size: usize) -> Vec<String> {
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
async fn resolvers_take_the_same_arguments() {
    let (_database, app) = app().await;
    let whole = ids(&app
        .query("{ list: columnList(limit: 100, where: {rank: {gte: 0}}, orderBy: [{name: DESC}]) { id } }")
        .await
        .data()["list"]);
    assert_eq!(
        walk(&app, "ranked", ", orderBy: [{name: DESC}]", 7, false).await,
        whole
    );
    assert_eq!(
        walk(&app, "ranked", ", orderBy: [{name: DESC}]", 7, true).await,
        whole
    );
    assert_eq!(
        walk_by_offset(&app, "rankedList", ", orderBy: [{name: DESC}]", 7).await,
        whole
    );
    let few = app
        .query(r#"{ ranked(where: {name: {eq: "name 2"}}) { totalCount } }"#)
        .await
        .data();
    assert_eq!(few["ranked"]["totalCount"], 12);
    let names = app.query("{ names(first: 2) }").await.data();
    assert_eq!(
        names["names"].as_array().unwrap()[..3],
        [json!("name 0"), json!("name 0"), json!("false true")]
    );
    let query = format!("{{ names(last: 1, after: {}) }}", names["names"][3]);
    assert_eq!(
        app.query(&query).await.data()["names"].as_array().unwrap()[..2],
        [json!("name 3"), json!("true false")]
    );
    let sdl = app
        .query("{ __type(name: \"Query\") { fields { name args { name type { kind name } } } } }")
        .await
        .data();
    let fields = sdl["__type"]["fields"].as_array().unwrap();
    let args = |name: &str| {
        fields.iter().find(|field| field["name"] == name).unwrap()["args"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(
        (
            args("ranked"),
            args("rankedList"),
            args("columns"),
            args("names")
        ),
        (6, 4, 6, 4)
    );
}

#[tokio::test]
async fn a_page_that_cannot_be_is_a_clean_error() {
    let (_database, app) = app().await;
    let cursor = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let query = "{ columns(first: 1, orderBy: [{at: ASC}]) { pageInfo { endCursor } } }";
    let good = app.query(query).await.data()["columns"]["pageInfo"]["endCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let decoded = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(&good)
        .unwrap();
    let forged = cursor(
        &String::from_utf8(decoded)
            .unwrap()
            .replace("2024-01-01", "2024-99-99' OR 1=1 --"),
    );
    for (arguments, part) in [
        ("first: 1, last: 1".to_owned(), "not both"),
        ("first: -2".to_owned(), "`first` must not be negative"),
        ("last: -2".to_owned(), "`last` must not be negative"),
        ("first: 1001".to_owned(), "first is 1001, and at most 1000"),
        (
            "after: \"\"".to_owned(),
            "the cursor is not one of this list",
        ),
        (
            "after: \"no cursor\"".to_owned(),
            "the cursor is not one of this list",
        ),
        (
            format!("after: \"{}\"", cursor("[1, []]")),
            "the cursor is not one of this list",
        ),
        (
            format!("after: \"{}\"", cursor("[[[[")),
            "the cursor is not one of this list",
        ),
        (
            format!("after: \"{good}\""),
            "the cursor is not one of this list",
        ),
        (
            format!("after: \"{good}\", orderBy: [{{at: DESC}}]"),
            "the cursor is not one of this list",
        ),
        (
            format!("before: \"{forged}\", orderBy: [{{at: ASC}}]"),
            "the cursor is not one of this list",
        ),
    ] {
        let reply = app
            .query(&format!("{{ columns({arguments}) {{ nodes {{ id }} }} }}"))
            .await;
        assert_eq!(
            reply.code(),
            "BAD_USER_INPUT",
            "{arguments}: {}",
            reply.text
        );
        assert!(
            reply.message().contains(part),
            "{arguments}: {}",
            reply.text
        );
    }
    let reply = app.query("{ words { nodes { name } } }").await;
    assert_eq!(reply.code(), "BAD_USER_INPUT");
    assert!(reply.message().contains("give `orderBy`"), "{}", reply.text);
    assert_eq!(
        app.query("{ words { totalCount } }").await.data(),
        json!({"words": {"totalCount": 61}})
    );
    let reply = app
        .query("{ columns(orderBy: [{nope: ASC}]) { nodes { id } } }")
        .await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED");
    let empty = app.query("{ columnList(offset: 1000) { id } columns(where: {name: {eq: \"x\"}}) { nodes { id } edges { cursor } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }").await.data();
    assert_eq!(empty["columnList"], json!([]));
    let info = json!({"hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null});
    assert_eq!(
        empty["columns"],
        json!({"nodes": [], "edges": [], "totalCount": 0, "pageInfo": info})
    );
    let none = app
        .query("{ columns(first: 0) { nodes { id } pageInfo { hasNextPage } } }")
        .await
        .data();
    assert_eq!(
        none["columns"],
        json!({"nodes": [], "pageInfo": {"hasNextPage": true}})
    );
}

#[tokio::test]
async fn a_page_is_one_statement_and_counts_only_when_asked() {
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
