//! Pages without ties are read without the unique last key, with the same answers.

mod pages;
mod random;
mod statements;

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum Size {
    Small,
    Large,
}

#[svc_type(sql_source = "v_thing")]
struct Thing {
    id: i32,
    name: Option<String>,
    code: Option<Uuid>,
    rank: Option<i32>,
    price: Option<Decimal>,
    ratio: Option<f64>,
    at: Option<DateTime<Utc>>,
    flag: bool,
    size: Option<Size>,
    folded: Option<String>,
    /// A key of `data`.
    inner: Option<i32>,
    /// `null` here is an error.
    must: i32,
    /// A number that is too large is an error, and null.
    small: Option<i32>,
}

#[svc::query]
async fn things() -> Vec<Thing>;
#[svc::query]
async fn some_things(
    ctx: &Context<'_>,
    order_by: Option<OrderBy<Thing>>,
    page: Page,
) -> Result<Find<Thing>> {
    Ok(ctx.db().find::<Thing>().apply_order_by(order_by).page(page))
}

/// `folded` takes `A` and `a` for the same. The columns that rows are told apart by have no index,
/// so that PostgreSQL is free to give those that are equal in any order.
const SQL: &str = "
CREATE COLLATION caseless (provider = icu, deterministic = false, locale = 'und-u-ks-level2');
CREATE TABLE tb_thing (id int PRIMARY KEY, name text COLLATE \"C\", code uuid, rank int, price numeric, ratio float8,
  at timestamptz, flag bool NOT NULL DEFAULT false, size text, folded text COLLATE caseless, must int DEFAULT 0, small int8,
  data jsonb NOT NULL DEFAULT '{}');
CREATE VIEW v_thing AS SELECT * FROM tb_thing;";

async fn serve(sql: &str) -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("ties", SQL).await;
    database.execute(sql).await;
    let app = App::serve(
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![things, some_things]),
    )
    .await;
    (database, app)
}

/// A selection with a name that no other has, so that nothing is kept of its document yet.
fn unseen(selection: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "query q{} {selection}",
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

/// The ids of the pages from these offsets, which must be the same with the last key, as a document's
/// first request is read, and without it. Each page is a field, and so has statements of its own.
async fn pages_from(
    app: &App,
    order: &str,
    limit: usize,
    offsets: impl IntoIterator<Item = usize>,
) -> Vec<(usize, Vec<i64>)> {
    let offsets: Vec<_> = offsets.into_iter().collect();
    let fields = offsets.iter().map(|offset| {
        format!(
            "from{offset}: things(order_by: [{order}], limit: {limit}, offset: {offset}) {{ id }}"
        )
    });
    let document = unseen(&format!("{{ {} }}", fields.collect::<Vec<_>>().join(" ")));
    let first = app.query(&document).await.data();
    assert_eq!(app.query(&document).await.data(), first, "{document}");

    let page = |offset: usize| (offset, ids(&first[format!("from{offset}")]));
    offsets.into_iter().map(page).collect()
}

fn ids(rows: &Value) -> Vec<i64> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_i64().unwrap())
        .collect()
}

/// The part of `all` that a page has.
fn window(all: &[i64], limit: usize, offset: usize) -> Vec<i64> {
    all.iter().skip(offset).take(limit).copied().collect()
}

fn ids_of(list: &[i64]) -> Value {
    list.iter().map(|id| json!({ "id": id })).collect()
}
