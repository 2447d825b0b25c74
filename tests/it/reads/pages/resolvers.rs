//! Pages that resolvers return, or look into.

use serde_json::json;
use svc::prelude::*;

use super::walks::{walk, walk_by_offset};
use super::{ColumnItem, app, ids};

/// A page that a resolver returns, over the client's arguments and a condition of its own.
#[svc::query]
pub(super) async fn ranked(
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
pub(super) async fn ranked_list(
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
pub(super) async fn names(ctx: &Context<'_>, page: CursorPage) -> Result<Vec<String>> {
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
