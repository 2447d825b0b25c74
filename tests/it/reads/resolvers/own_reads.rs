//! Resolvers that read rows themselves.

use serde_json::{Value, json};
use svc::prelude::*;

use super::{Cat, app};

#[svc::query]
pub(super) async fn typed(ctx: &Context<'_>) -> Result<Vec<String>> {
    let cats: Vec<Cat> = ctx.db().find::<Cat>().order_by(asc("name")).await?;
    Ok(cats.into_iter().map(|cat| cat.name).collect())
}

#[svc::query]
pub(super) async fn counted(ctx: &Context<'_>, above: i32) -> Result<Vec<i64>> {
    let cats = || ctx.db().find::<Cat>().filter(col("id").gt(above));
    Ok(vec![
        cats().limit(1).count().await?,
        i64::from(cats().exists().await?),
    ])
}

#[svc::query]
pub(super) async fn unlimited(ctx: &Context<'_>) -> Result<bool> {
    Ok(ctx.db().find::<Grain>().await?.is_empty())
}

#[svc_type(sql_source = "v_grain")]
pub(super) struct Grain {
    id: i32,
}

#[svc::query]
pub(super) async fn last_cat(ctx: &Context<'_>, below: i32) -> Result<FindOne<Cat>> {
    Ok(ctx
        .db()
        .find_one::<Cat>()
        .filter(col("id").lt(below))
        .order_by(desc("id")))
}

#[tokio::test]
async fn a_resolver_can_read_typed_rows() {
    assert_eq!(
        app().await.query("{ typed }").await.data()["typed"],
        json!(["cat 1", "cat 2", "cat 3"])
    );
}

#[tokio::test]
async fn one_row_can_be_returned_as_a_query() {
    let app = app().await;
    assert_eq!(
        app.query("{ lastCat(below: 3) { name } }").await.data()["lastCat"],
        json!({ "name": "cat 2" })
    );
    assert_eq!(
        app.query("{ lastCat(below: 0) { name } }").await.data()["lastCat"],
        Value::Null
    );
}

#[tokio::test]
async fn a_resolver_can_count() {
    let app = app().await;
    assert_eq!(
        app.query("{ counted(above: 1) }").await.data()["counted"],
        json!([2, 1])
    );
    assert_eq!(
        app.query("{ counted(above: 3) }").await.data()["counted"],
        json!([0, 0])
    );
}

#[tokio::test]
async fn a_read_of_too_many_rows_is_an_error() {
    assert_eq!(
        app().await.query("{ unlimited }").await.code(),
        "INTERNAL_SERVER_ERROR"
    );
}
