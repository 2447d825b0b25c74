//! Notes with owners, in each of the three kinds of views.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use svc_embedded::{Database, Options};

use crate::SvcConfig;
use crate::prelude::*;
use svc_engine::Operation;

#[svc_type(sql_source = "v_note", authorize_fields = ["secret"])]
pub(super) struct Note {
    pub(super) id: i32,
    owner: String,
    stars: i32,
    secret: Option<String>,
    #[relation(from = "owner", to = "owner")]
    siblings: Many<Note>,
}

#[svc::query]
async fn notes() -> Vec<Note>;
#[svc::query]
async fn note(id: i32) -> Option<Note>;
#[svc::query]
async fn noted(secret: String) -> Vec<Note>;
#[svc::query]
async fn page() -> Connection<Note>;
#[svc::query]
async fn statistics() -> Aggregate<Note>;
#[svc::query]
async fn found(ctx: &Context<'_>, r#where: Option<Where<Note>>) -> Result<Find<Note>> {
    called(ctx)?;
    Ok(ctx
        .db()
        .find::<Note>()
        .apply_where(r#where)
        .order_by(asc("id")))
}
#[svc::query]
async fn found_one(ctx: &Context<'_>, id: i32) -> Result<FindOne<Note>> {
    Ok(ctx.db().find_one::<Note>().filter(col("id").eq(id)))
}
#[svc::query]
async fn found_page(ctx: &Context<'_>) -> Result<Connection<Note>> {
    Ok(ctx
        .db()
        .find::<Note>()
        .order_by(asc("id"))
        .paginate(CursorPage::default()))
}
#[svc::query]
async fn found_statistics(ctx: &Context<'_>) -> Result<Aggregate<Note>> {
    Ok(ctx.db().find::<Note>().aggregate())
}
#[svc::query]
async fn awaited(ctx: &Context<'_>) -> Result<Vec<Note>> {
    ctx.db().find::<Note>().order_by(asc("id")).await
}
/// All other results of the repository, as an error message.
#[svc::query]
async fn told(ctx: &Context<'_>) -> Result<Vec<Note>> {
    let notes = || ctx.db().find::<Note>();
    let slice = notes()
        .order_by(asc("id"))
        .paginate(CursorPage::default())
        .await?;
    let mut transaction = ctx.db().transaction().await?;
    let told = format!(
        "count {} exists {} sum {:?} min {:?} distinct {:?} groups {} json {} slice {} transaction {}",
        notes().count().await?,
        notes().filter(col("owner").eq("bob")).exists().await?,
        notes().sum("stars").await?.map(|sum| sum.to_string()),
        notes().min("owner").await?,
        notes().distinct("owner").await?,
        notes().group_counts(["owner"]).await?.len(),
        notes().json().await?.len(),
        slice.edges.len(),
        transaction.rows(notes()).await?.len(),
    );

    Err(Error::new(ErrorCode::BadUserInput, told))
}

/// The number of calls of the application's functions.
#[derive(Clone, Default)]
pub(super) struct Calls(pub(super) Arc<AtomicU32>);

fn called(ctx: &Context<'_>) -> Result<i32> {
    Ok(ctx
        .data::<Calls>()?
        .0
        .fetch_add(1, Ordering::Relaxed)
        .try_into()?)
}

#[svc::query]
fn plain(ctx: &Context<'_>) -> Result<i32> {
    called(ctx)
}
#[svc::query]
async fn slow(ctx: &Context<'_>) -> Result<i32> {
    called(ctx)
}
#[svc::mutation]
fn touch(ctx: &Context<'_>) -> Result<i32> {
    called(ctx)
}
#[svc::mutation(function = "app.rename")]
async fn rename(id: i32, owner: String) -> Option<i32>;
#[svc::mutation(function = "app.rename")]
async fn rename_too(id: i32, owner: String) -> Option<i32>;

const TABLE: &str = "CREATE TABLE tb_note (id int PRIMARY KEY, owner text, stars int, secret text);
    INSERT INTO tb_note VALUES (1, 'ada', 5, 'a'), (2, 'bob', 7, 'b'), (3, 'ada', 11, NULL), (4, 'bob', 13, 'd');
    CREATE SCHEMA app;
    CREATE FUNCTION app.rename(id int, owner text) RETURNS int LANGUAGE sql AS
    'UPDATE tb_note SET owner = $2 WHERE id = $1 RETURNING id';";

/// The view with columns only, with everything in `data`, and with some of both.
pub(super) const VIEWS: [&str; 3] = [
    "CREATE VIEW v_note AS SELECT * FROM tb_note",
    "CREATE VIEW v_note AS SELECT id, to_jsonb(tb_note) AS data FROM tb_note",
    "CREATE VIEW v_note AS SELECT id, owner, to_jsonb(tb_note) AS data FROM tb_note",
];

/// A PostgreSQL server that stops with the test process.
fn cluster() -> &'static Database {
    static CLUSTER: OnceLock<Database> = OnceLock::new();

    CLUSTER.get_or_init(|| {
        // A separate thread and runtime: the runtime of the first test would be dropped at its end.
        let start = std::thread::spawn(|| {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let database = runtime
                .block_on(Database::start(Options::temporary()))
                .unwrap();
            std::mem::forget(runtime);
            database
        });
        start.join().unwrap()
    })
}

/// A service over a separate database, with one kind of view.
pub(super) async fn options(view: &str) -> AppOptions {
    static NEXT: AtomicU32 = AtomicU32::new(0);

    let name = format!("gate_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    cluster().ensure_database(&name).await.unwrap();
    let pool = sqlx::PgPool::connect(&cluster().url_for(&name))
        .await
        .unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("{TABLE}{view}")))
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    let config = SvcConfig {
        database: crate::DatabaseConfig {
            url: Some(cluster().url_for(&name)),
            ..crate::DatabaseConfig::default()
        },
        operations: crate::OperationsConfig {
            rust_endpoint: true,
            ..crate::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };

    let with_sql = |document: &str, sql: &'static str| Operation::new(document).sql(sql);

    AppOptions::new()
        .config(config)
        .queries(queries![notes, note, noted, page, statistics, plain, slow])
        .queries(queries![
            found,
            found_one,
            found_page,
            found_statistics,
            awaited,
            told
        ])
        .data(Calls::default())
        .mutations(mutations![touch, rename, rename_too])
        .operations([
            with_sql(
                CACHED,
                "SELECT jsonb_agg(tb_note ORDER BY id) AS notes, jsonb '[]' AS other FROM tb_note",
            ),
            with_sql(
                CACHED_MUTATION,
                "SELECT to_jsonb(app.rename(1, 'eve')) AS a, to_jsonb(2) AS b",
            ),
        ])
}

/// An operation that is executed by its SQL.
pub(super) const CACHED: &str = "query Cached { notes { id owner } other: notes { id } }";
/// A mutation that is executed by its SQL.
pub(super) const CACHED_MUTATION: &str =
    r#"mutation Renamed { a: rename(id: 1, owner: "eve") b: rename_too(id: 2, owner: "eve") }"#;
