//! A service whose responses are cached.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use svc::ResponseCache;
use svc::axum::Router;
use svc::axum::extract::Request;
use svc::axum::middleware::{Next, from_fn};
use svc::axum::response::Response;
use svc::create_svc_app;
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase, eventually};

#[svc_type(sql_source = "v_kept_author")]
pub(super) struct Author {
    id: i32,
    name: String,
}

#[svc_type(sql_source = "v_kept_post")]
pub(super) struct Post {
    id: i32,
    title: String,
    owner: String,
    #[relation]
    author: One<Author>,
}

/// Another type over the view of posts.
#[svc_type(sql_source = "v_kept_post")]
pub(super) struct Headline {
    id: i32,
    title: String,
}

/// The number of times that resolvers have run.
#[derive(Clone, Default)]
pub(super) struct Ticks(Arc<AtomicI32>);

impl Ticks {
    fn next(ctx: &Context<'_>) -> Result<i32> {
        Ok(ctx.data::<Self>()?.0.fetch_add(1, Ordering::SeqCst))
    }
}

#[svc::query(cache = 600)]
async fn posts(id: Option<i32>) -> Vec<Post>;

#[svc::query(cache = 600)]
async fn headlines() -> Vec<Headline>;

#[svc::query(cache = 600)]
async fn authors() -> Vec<Author>;

#[svc::query]
async fn uncached() -> Vec<Author>;

#[svc::query(cache = 600)]
fn tick(ctx: &Context<'_>, text: Option<String>) -> Result<i32> {
    drop(text);
    Ticks::next(ctx)
}

#[svc::query(cache = 1)]
fn brief(ctx: &Context<'_>) -> Result<i32> {
    Ticks::next(ctx)
}

/// Fails each other time.
#[svc::query(cache = 600)]
fn flaky(ctx: &Context<'_>) -> Result<Option<i32>> {
    match Ticks::next(ctx)? {
        tick if tick % 2 == 0 => Err(Error::new(ErrorCode::BadRequest, "not this time")),
        tick => Ok(Some(tick)),
    }
}

#[svc::query(cache = 600)]
fn who(ctx: &Context<'_>) -> String {
    ctx.user().map_or_else(
        || "nobody".to_owned(),
        |user| format!("{} {:?}", user.user_id, user.roles),
    )
}

#[svc::query(cache = 600)]
fn language(ctx: &Context<'_>) -> String {
    ctx.header("accept-language").unwrap_or("none").to_owned()
}

/// Counts posts by SQL of its own.
#[svc::query(cache = 600, reads = [Post])]
async fn count(ctx: &Context<'_>) -> Result<i64> {
    Ok(sqlx::query_scalar("SELECT count(*) FROM v_kept_post")
        .fetch_one(ctx.db().pool())
        .await?)
}

const RENAME: &str = "UPDATE tb_post SET title = $2 WHERE id = $1";

#[svc::mutation(invalidates = [Post])]
async fn rename(ctx: &Context<'_>, id: i32, title: String) -> Result<bool> {
    let update = sqlx::query(RENAME).bind(id).bind(title);
    Ok(update.execute(ctx.db().pool()).await?.rows_affected() == 1)
}

#[svc::mutation]
async fn rename_and_say(ctx: &Context<'_>, id: i32, title: String) -> Result<bool> {
    sqlx::query(RENAME)
        .bind(id)
        .bind(title)
        .execute(ctx.db().pool())
        .await?;
    ctx.invalidate::<Post>();
    Ok(true)
}

/// Says nothing of what it writes.
#[svc::mutation]
async fn rename_in_silence(ctx: &Context<'_>, id: i32, title: String) -> Result<bool> {
    sqlx::query(RENAME)
        .bind(id)
        .bind(title)
        .execute(ctx.db().pool())
        .await?;
    Ok(true)
}

/// Answers with what it has written.
#[svc::mutation(function = "rename_author")]
async fn rename_author(id: i32, name: String) -> Author;

#[svc::subscription(channel = "kept_post_changed")]
async fn post_changed() -> Post;

const SQL: &str = "
    CREATE TABLE tb_author (id int PRIMARY KEY, name text NOT NULL);
    CREATE TABLE tb_post (id int PRIMARY KEY, title text NOT NULL, author_id int NOT NULL, owner text NOT NULL);
    INSERT INTO tb_author VALUES (1, 'ada'), (2, 'bob');
    INSERT INTO tb_post VALUES (1, 'one', 1, 'ada'), (2, 'two', 2, 'bob');
    CREATE VIEW v_kept_author AS SELECT id, name FROM tb_author;
    CREATE VIEW v_kept_post AS SELECT id, title, author_id, owner FROM tb_post;
    CREATE FUNCTION rename_author(author int, new_name text) RETURNS jsonb LANGUAGE sql AS $$
        UPDATE tb_author SET name = new_name WHERE id = author RETURNING jsonb_build_object('id', id, 'name', name) $$;";

/// Tells of changes of posts.
pub(super) const TRIGGER: &str = "
    CREATE TRIGGER post_changed AFTER INSERT OR UPDATE OR DELETE ON tb_post
        FOR EACH ROW EXECUTE FUNCTION svc_notify('kept_post_changed');";

/// The statistics of statements, which are there from the start: an extension that comes later is a
/// change of the schema.
const STATISTICS: &str = "CREATE EXTENSION pg_stat_statements;";

/// A database without a trigger.
pub(super) async fn database() -> TestDatabase {
    TestDatabase::new(&format!("{STATISTICS}{}{SQL}", svc::events::SVC_NOTIFY)).await
}

/// The service without a cache.
pub(super) fn uncached_options(database: &TestDatabase) -> AppOptions {
    AppOptions::new()
        .database_url(database.url())
        .data(Ticks::default())
        .queries(queries![
            posts, headlines, authors, uncached, tick, brief, flaky, who, language, count
        ])
        .mutations(mutations![
            rename,
            rename_and_say,
            rename_in_silence,
            rename_author
        ])
        .subscriptions(subscriptions![post_changed])
}

pub(super) fn options(database: &TestDatabase) -> AppOptions {
    uncached_options(database).response_cache(ResponseCache::new())
}

/// The user of a header: a name, and a role after a `;`.
async fn identify(mut request: Request, next: Next) -> Response {
    let header = request
        .headers()
        .get("x-user")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    if let Some(header) = header {
        let (name, role) = header.split_once(';').unwrap_or((&header, ""));
        request
            .extensions_mut()
            .insert(UserContext::new(name).roles(Some(role).filter(|role| !role.is_empty())));
    }
    next.run(request).await
}

/// Serves options that take the word of `x-user`, and waits until answers are kept.
pub(super) async fn serve(options: AppOptions) -> App {
    serve_router(create_svc_app(options).await.unwrap()).await
}

pub(super) async fn serve_router(router: Router) -> App {
    let app = App::serve_router(router.layer(from_fn(identify))).await;
    let ready = r#"{ tick(text: "ready") }"#;
    eventually(async || {
        let (one, other) = (app.query(ready).await.text, app.query(ready).await.text);
        if one == other {
            Ok(())
        } else {
            Err(format!("{one} {other}"))
        }
    })
    .await;
    app
}

/// The answer to a document with further headers.
pub(super) async fn ask(app: &App, document: &str, headers: &[(&str, &str)]) -> Reply {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    app.send(request.body(json!({ "query": document }).to_string()))
        .await
}

/// The statements that wait for a lock: their processes, and when they began.
pub(super) async fn waiting(pool: &sqlx::PgPool) -> Vec<String> {
    let waiting = "SELECT concat_ws(' ', pid, query_start) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    sqlx::query_scalar(waiting).fetch_all(pool).await.unwrap()
}

/// Waits until so many statements wait for a lock, and returns them.
pub(super) async fn until_waiting(pool: &sqlx::PgPool, count: usize) -> Vec<String> {
    eventually(async || match waiting(pool).await {
        found if found.len() == count => Ok(found),
        found => Err(format!("{found:?} wait")),
    })
    .await
}

/// The title of the first post, as the service says it.
pub(super) async fn title(app: &App) -> Value {
    app.query("{ posts(id: 1) { title } }").await.data()["posts"][0]["title"].clone()
}

/// Waits until the first post has a title, for at most so long.
pub(super) async fn until_title(app: &App, expected: &str, limit: Duration) {
    svc_tests::within(limit, async || {
        let found = title(app).await;
        if found == expected {
            Ok(())
        } else {
            Err(found.to_string())
        }
    })
    .await;
}
