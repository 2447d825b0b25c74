//! Posts, their authors and their comments, asked for on every path.

use serde_json::{Value, json};
use svc::Operation;
use svc::prelude::*;

use super::changes;

#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum Mood {
    #[svc(stored = "good")]
    Good,
    #[svc(stored = "bad")]
    Bad,
}

#[svc_type(sql_source = "v_author")]
struct Author {
    id: Uuid,
    name: String,
    #[relation(to = "author_id")]
    posts: Many<Post>,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: i32,
    title: String,
    view_count: i32,
    price: Decimal,
    created_at: DateTime<Utc>,
    mood: Mood,
    open: bool,
    meta: Value,
    #[relation(from = "author_id")]
    author: One<Author>,
}

#[svc_type]
impl Post {
    fn shout(&self) -> String {
        format!("{} {}", self.title, self.view_count)
    }
}

#[svc_type(sql_source = "v_comment")]
struct Comment {
    id: i32,
    #[relation(from = "post_id")]
    post: One<Post>,
}

#[svc::query]
async fn posts() -> Vec<Post>;
#[svc::query]
async fn post(id: i32) -> Option<Post>;
#[svc::query]
async fn comments() -> Vec<Comment>;
#[svc::query]
async fn authors() -> Vec<Author>;
#[svc::query]
async fn post_totals() -> Aggregate<Post>;
#[svc::query]
async fn post_page() -> Connection<Post>;
#[svc::query]
async fn in_tx(ctx: &Context<'_>) -> Result<Vec<String>> {
    let mut tx = ctx.db().transaction().await?;
    let posts = tx
        .rows(ctx.db().find::<Post>().order_by(desc("view_count")))
        .await?;
    tx.commit().await?;
    Ok(posts
        .iter()
        .map(|post| format!("{} {} {}", post.id, post.view_count, post.created_at))
        .collect())
}
#[svc::query]
async fn most(ctx: &Context<'_>) -> Result<Option<String>> {
    ctx.db()
        .find::<Post>()
        .filter(col("view_count").gt(9))
        .max("view_count")
        .await
}
#[svc::query]
async fn called(ctx: &Context<'_>, n: i32) -> Result<String> {
    ctx.db().call("app.shape", [json!(n)]).await
}
#[svc::mutation(function = "app.shape")]
async fn shaped(n: i32) -> String;
#[svc::mutation(function = "app.shapes")]
async fn shapes(n: i32) -> Vec<String>;

const CACHED: &str =
    "query Cached($least: Int! = 9) { posts(where: {view_count: {gt: $least}}) { id view_count } }";

const CACHED_SQL: &str =
    "SELECT (SELECT jsonb_agg(jsonb_build_object('id', id, 'view_count', view_count) ORDER BY id)
    FROM v_post WHERE view_count > $1) AS posts";

/// Each path, by a name.
pub(super) const CELLS: [(&str, &str); 20] = [
    (
        "list",
        "{ posts(order_by: [{id: ASC}]) { id title view_count price created_at mood open meta } }",
    ),
    (
        "list of keys",
        "{ posts(order_by: [{id: ASC}]) { view_count } }",
    ),
    (
        "single",
        "{ post(id: 3) { view_count title created_at author { name } } }",
    ),
    (
        "relation to one",
        "{ comments(order_by: [{id: ASC}]) { id post { view_count title open mood price } } }",
    ),
    (
        "relation to many",
        "{ authors(order_by: [{name: ASC}]) { name posts(order_by: [{view_count: DESC}]) { id } } }",
    ),
    (
        "relation of many",
        "{ authors(order_by: [{name: ASC}]) { posts(order_by: [{id: ASC}]) { view_count meta } } }",
    ),
    (
        "filter",
        "{ posts(where: {view_count: {gt: 9}}, order_by: [{id: ASC}]) { id } }",
    ),
    (
        "filter of a relation",
        "{ comments(where: {post: {view_count: {in: [10, 33, 990]}}}, order_by: [{id: ASC}]) { id } }",
    ),
    (
        "filter of others",
        "{ posts(where: {created_at: {gt: \"2024-01-02T12:00:00Z\"}, mood: {eq: Good}}, order_by: [{id: ASC}]) { id } }",
    ),
    (
        "order",
        "{ posts(order_by: [{view_count: DESC}]) { title } }",
    ),
    (
        "order of others",
        "{ posts(order_by: [{created_at: DESC}, {price: ASC}]) { title } }",
    ),
    (
        "order of a relation",
        "{ comments(order_by: [{post: {view_count: DESC}}, {id: ASC}]) { id } }",
    ),
    (
        "aggregate",
        "{ post_totals { count max { view_count price } min { view_count } sum { view_count } } }",
    ),
    (
        "groups",
        "{ post_totals { groups(by: [VIEW_COUNT], order_by: [{key: {view_count: ASC}}]) { key { view_count } count } } }",
    ),
    (
        "page",
        "{ post_page(first: 3, order_by: [{view_count: ASC}]) { total_count edges { node { id view_count } } \
         page_info { has_next_page } } }",
    ),
    (
        "method",
        "{ posts(order_by: [{view_count: ASC}]) { shout } }",
    ),
    ("repository", "{ most }"),
    ("transaction", "{ in_tx }"),
    ("call", "{ called(n: 7) }"),
    ("mutation", "mutation { shaped(n: 7) shapes(n: 2) }"),
];

/// The body of a cell that is asked for by the name of its operation.
pub(super) fn cached() -> Value {
    json!({ "documentId": "Cached" })
}

pub(super) const SQL: &str = "
CREATE SCHEMA app;
CREATE SCHEMA front;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN counted AS int;
CREATE DOMAIN recounted AS counted;
CREATE TABLE tb_author AS SELECT md5(i::text)::uuid AS id, 'author ' || i AS name FROM generate_series(1, 3) AS i;
CREATE TABLE tb_post AS
SELECT i AS id, 'post ' || i AS title, (ARRAY[9, 100, 10, 2, 33, 512, 8, 77])[i] AS view_count,
  (i * 37 % 11 + 0.5)::numeric(10, 2) AS price, '2024-01-01T00:00:00Z'::timestamptz + i * interval '9 hours' AS created_at,
  CASE WHEN i % 2 = 0 THEN 'good' ELSE 'bad' END AS mood, i % 3 = 0 AS open, jsonb_build_object('n', i) AS meta,
  md5((i % 3 + 1)::text)::uuid AS author_id
FROM generate_series(1, 8) AS i;
CREATE VIEW public.v_author AS SELECT id, name FROM tb_author;
CREATE VIEW public.v_comment AS SELECT i AS id, i % 8 + 1 AS post_id FROM generate_series(1, 10) AS i;
CREATE FUNCTION app.shape(n int) RETURNS text LANGUAGE sql AS $$ SELECT 'n is ' || n $$;
CREATE FUNCTION app.shapes(n int) RETURNS SETOF text LANGUAGE sql AS $$ SELECT 'n ' || i FROM generate_series(1, n) AS i $$;
CREATE VIEW public.v_post AS SELECT p.*, to_jsonb(p) AS data FROM tb_post AS p;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = front, public', current_database()); END $$;
";

/// A service that looks for changes so often, in milliseconds.
pub(super) fn options(url: String, catalogue_poll: u64) -> AppOptions {
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(url),
            pool_timeout: std::time::Duration::from_secs(50),
            catalogue_poll: (catalogue_poll > 0)
                .then(|| std::time::Duration::from_millis(catalogue_poll)),
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .queries(queries![
            posts,
            post,
            comments,
            authors,
            post_totals,
            post_page,
            in_tx,
            most,
            called
        ])
        .mutations(mutations![shaped, shapes])
        .operations([Operation::new(CACHED).sql(CACHED_SQL)])
}

/// The SQL that brings everything back to where it began.
pub(super) fn restore() -> String {
    format!(
        "DROP SCHEMA front CASCADE; CREATE SCHEMA front;
         DROP SCHEMA app CASCADE; CREATE SCHEMA app;
         CREATE FUNCTION app.shape(n int) RETURNS text LANGUAGE sql AS $$ SELECT 'n is ' || n $$;
         CREATE FUNCTION app.shapes(n int) RETURNS SETOF text LANGUAGE sql
            AS $$ SELECT 'n ' || i FROM generate_series(1, n) AS i $$;
         DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = front, public', current_database()); END $$;
         {}
         DROP VIEW v_author; CREATE VIEW public.v_author AS SELECT id, name FROM tb_author;
         DROP VIEW v_comment;
         CREATE VIEW public.v_comment AS SELECT i AS id, i % 8 + 1 AS post_id FROM generate_series(1, 10) AS i;",
        changes::base()
    )
}
