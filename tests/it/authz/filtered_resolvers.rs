//! The filter of an authorizer reaches every read of a resolver, whatever the resolver answers
//! with.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Operation, OperationsConfig};
use svc_tests::{App, Log, TestDatabase};

#[svc_type(sql_source = "v_fr_note")]
struct FrNote {
    id: i32,
    title: String,
}

/// Another type over the same view.
#[svc_type(sql_source = "v_fr_note")]
struct FrHeadline {
    id: i32,
    title: String,
}

#[svc_type(sql_source = "v_fr_task")]
struct FrTask {
    id: i32,
    title: String,
}

/// Its view has no tenant.
#[svc_type(sql_source = "v_fr_label")]
struct FrLabel {
    id: i32,
    title: String,
}

#[allow(
    clippy::enum_variant_names,
    reason = "members of a union have the names of their types"
)]
#[svc_interface(fields(id: i32, title: String), sql_source = "v_fr_entry")]
enum FrEntry {
    FrNote(FrNote),
    FrTask(FrTask),
    FrLabel(FrLabel),
}

#[svc_union]
enum FrFound {
    FrNote(FrNote),
    FrTask(FrTask),
}

#[svc_type]
struct FrBoard {
    total: i64,
    titles: Vec<String>,
}

#[svc::query]
async fn fr_notes() -> Vec<FrNote>;

#[svc::query]
async fn fr_count(ctx: &Context<'_>) -> Result<i64> {
    ctx.db().find::<FrNote>().count().await
}

#[svc::query]
async fn fr_ids(ctx: &Context<'_>) -> Result<Vec<i32>> {
    Ok(ctx
        .db()
        .find::<FrNote>()
        .await?
        .into_iter()
        .map(|note| note.id)
        .collect())
}

#[svc::query]
async fn fr_title(ctx: &Context<'_>, id: i32) -> Result<Option<String>> {
    Ok(ctx
        .db()
        .find::<FrNote>()
        .filter(col("id").eq(id))
        .one()
        .await?
        .map(|note| note.title))
}

#[svc::query]
async fn fr_has(ctx: &Context<'_>, id: i32) -> Result<bool> {
    ctx.db()
        .find::<FrTask>()
        .filter(col("id").eq(id))
        .exists()
        .await
}

#[svc::query]
async fn fr_board(ctx: &Context<'_>) -> Result<FrBoard> {
    let titles = ctx
        .db()
        .find::<FrTask>()
        .await?
        .into_iter()
        .map(|task| task.title)
        .collect();
    Ok(FrBoard {
        total: ctx.db().find::<FrNote>().count().await?,
        titles,
    })
}

#[svc::query]
async fn fr_entries(ctx: &Context<'_>) -> Result<Vec<FrEntry>> {
    let notes = ctx
        .db()
        .find::<FrNote>()
        .await?
        .into_iter()
        .map(FrEntry::FrNote);
    Ok(notes
        .chain(
            ctx.db()
                .find::<FrTask>()
                .await?
                .into_iter()
                .map(FrEntry::FrTask),
        )
        .collect())
}

#[svc::query]
async fn fr_found(ctx: &Context<'_>) -> Result<Vec<FrFound>> {
    let notes = ctx
        .db()
        .find::<FrNote>()
        .await?
        .into_iter()
        .map(FrFound::FrNote);
    Ok(notes
        .chain(
            ctx.db()
                .find::<FrTask>()
                .await?
                .into_iter()
                .map(FrFound::FrTask),
        )
        .collect())
}

/// Reads the other type over its view.
#[svc::query]
async fn fr_headlines(ctx: &Context<'_>) -> Result<Vec<FrHeadline>> {
    let notes = ctx.db().find::<FrNote>().await?;
    Ok(notes
        .into_iter()
        .map(|note| FrHeadline {
            id: note.id,
            title: note.title,
        })
        .collect())
}

/// Reads a member whose view lacks the column of the filter.
#[svc::query]
async fn fr_labels(ctx: &Context<'_>) -> Result<Vec<FrEntry>> {
    Ok(ctx
        .db()
        .find::<FrLabel>()
        .await?
        .into_iter()
        .map(FrEntry::FrLabel)
        .collect())
}

/// The same as a number.
#[svc::query]
async fn fr_label_count(ctx: &Context<'_>) -> Result<i64> {
    ctx.db().find::<FrLabel>().count().await
}

/// Reads past the repository.
#[svc::query]
async fn fr_sql(ctx: &Context<'_>) -> Result<i64> {
    Ok(sqlx::query_scalar("SELECT count(*) FROM v_fr_note")
        .fetch_one(ctx.db().pool())
        .await?)
}

/// Reads rows past the repository.
#[svc::query]
async fn fr_raw_sql(ctx: &Context<'_>) -> Result<Vec<FrNote>> {
    read_past_filters(ctx).await
}

/// Members of an interface, read past the repository.
#[svc::query]
async fn fr_raw_entries(ctx: &Context<'_>) -> Result<Vec<FrEntry>> {
    Ok(read_past_filters(ctx)
        .await?
        .into_iter()
        .map(FrEntry::FrNote)
        .collect())
}

/// Members of a union, read past the repository.
#[svc::query]
async fn fr_raw_found(ctx: &Context<'_>) -> Result<Vec<FrFound>> {
    Ok(read_past_filters(ctx)
        .await?
        .into_iter()
        .map(FrFound::FrNote)
        .collect())
}

async fn read_past_filters(ctx: &Context<'_>) -> Result<Vec<FrNote>> {
    let rows = sqlx::query_as::<_, (i32, String)>("SELECT id, title FROM v_fr_note")
        .fetch_all(ctx.db().pool())
        .await?;
    Ok(rows
        .into_iter()
        .map(|(id, title)| FrNote { id, title })
        .collect())
}

/// Returns no rows, and reads none.
#[svc::query]
async fn fr_none() -> Result<Vec<FrNote>> {
    Ok(Vec::new())
}

/// Reads nothing.
#[svc::query]
fn fr_constant() -> i32 {
    1
}

const SQL: &str = "
    CREATE TABLE tb_fr (id int PRIMARY KEY, kind text, tenant text, title text);
    INSERT INTO tb_fr VALUES (1, 'FrNote', 'a', 'n1'), (2, 'FrNote', 'b', 'n2'), (3, 'FrTask', 'a', 't3'), (4, 'FrTask', 'b', 't4'),
        (5, 'FrLabel', 'a', 'l5');
    CREATE VIEW v_fr_note AS SELECT id, tenant, title FROM tb_fr WHERE kind = 'FrNote';
    CREATE VIEW v_fr_task AS SELECT id, tenant, title FROM tb_fr WHERE kind = 'FrTask';
    CREATE VIEW v_fr_label AS SELECT id, title FROM tb_fr WHERE kind = 'FrLabel';
    CREATE VIEW v_fr_entry AS SELECT kind AS __typename, id, tenant, title FROM tb_fr;";

const CACHED: &str = "query FrCached { frNotes { id } }";

async fn serve() -> App {
    let database = TestDatabase::copy_of("filtered_resolvers", SQL).await;
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let options = AppOptions::new()
        .config(SvcConfig {
            operations,
            ..SvcConfig::default()
        })
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![
            fr_notes,
            fr_count,
            fr_ids,
            fr_title,
            fr_has,
            fr_board,
            fr_entries,
            fr_found,
            fr_headlines
        ])
        .queries(queries![fr_labels, fr_label_count, fr_sql, fr_constant])
        .queries(queries![fr_raw_sql, fr_raw_entries, fr_raw_found, fr_none])
        .operations([Operation::new(CACHED)
            .sql("SELECT jsonb_agg(v_fr_note ORDER BY id) AS \"frNotes\" FROM v_fr_note")])
        .authorizer(async |_: AuthorizationRequest| {
            AuthorizationDecision::allow_filtered([("tenant", "a")])
        });
    App::serve(options).await
}

#[tokio::test]
async fn every_read_of_a_resolver_is_filtered() {
    let app = serve().await;
    let titled =
        |all: &[&str]| -> Value { all.iter().map(|title| json!({ "title": title })).collect() };
    for (query, expected) in [
        ("{ frCount }", json!({ "frCount": 1 })),
        ("{ frIds }", json!({ "frIds": [1] })),
        (
            "{ a: frTitle(id: 1) b: frTitle(id: 2) }",
            json!({ "a": "n1", "b": null }),
        ),
        (
            "{ a: frHas(id: 3) b: frHas(id: 4) }",
            json!({ "a": true, "b": false }),
        ),
        (
            "{ frBoard { total titles } }",
            json!({ "frBoard": { "total": 1, "titles": ["t3"] } }),
        ),
        (
            "{ frEntries { title } }",
            json!({ "frEntries": titled(&["n1", "t3"]) }),
        ),
        (
            "{ frFound { ... on FrNote { title } ... on FrTask { title } } }",
            json!({ "frFound": titled(&["n1", "t3"]) }),
        ),
        (
            "{ frHeadlines { title } }",
            json!({ "frHeadlines": titled(&["n1"]) }),
        ),
        (
            "{ frCount frNotes { id } }",
            json!({ "frCount": 1, "frNotes": [{ "id": 1 }] }),
        ),
    ] {
        // The second request takes the statement that was kept.
        for _ in 0..2 {
            assert_eq!(
                app.query(query).await.json(),
                json!({ "data": expected }),
                "{query}"
            );
        }
    }
}

#[tokio::test]
async fn a_filter_that_applies_to_no_read_denies() {
    let app = serve().await;
    for query in [
        "{ frLabels { title } }",
        "{ frLabelCount }",
        "{ frSql }",
        "{ frConstant }",
    ] {
        assert_eq!(app.query(query).await.code(), "FORBIDDEN", "{query}");
    }
}

#[tokio::test]
async fn rows_that_a_resolver_reads_past_the_filter_are_denied() {
    let app = serve().await;
    for query in [
        "{ frRawSql { title } }",
        "{ frRawEntries { title } }",
        "{ frRawFound { ... on FrNote { title } } }",
    ] {
        assert_eq!(app.query(query).await.code(), "FORBIDDEN", "{query}");
    }
    assert_eq!(
        app.query("{ frNone { title } }").await.json(),
        json!({ "data": { "frNone": [] } })
    );
}

#[tokio::test]
async fn a_filter_for_an_operation_with_sql_is_logged() {
    let log = Log::start();
    let app = serve().await;
    assert_eq!(
        app.query(CACHED).await.data(),
        json!({ "frNotes": [{ "id": 1 }] })
    );
    log.has("an authorizer returned a filter for a registered operation, so its SQL is not used")
        .await;
    assert!(log.text().contains("FrCached"), "{}", log.text());
}
