//! A store of boxes. Functions with a body count how often they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::Operation;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase};

#[svc_enum]
#[derive(Debug, Clone, Copy)]
pub(super) enum Color {
    #[svc(stored = "r")]
    Red,
    #[svc(stored = "b")]
    Blue,
}

#[svc_type]
pub(super) struct Size {
    width: i32,
    depth: Option<i32>,
}

#[svc_type(sql_source = "v_box")]
pub(super) struct Crate {
    id: Uuid,
    #[svc(stored = "identifier")]
    label: String,
    color: Color,
    size: Size,
    tags: Vec<String>,
    #[relation(to = "box_id")]
    things: Many<Thing>,
}

#[svc_type]
impl Crate {
    fn shout(&self) -> String {
        self.label.to_uppercase()
    }
}

#[svc_type(sql_source = "v_thing")]
pub(super) struct Thing {
    id: i32,
    name: Option<String>,
    #[relation(from = "box_id")]
    holder: One<Crate>,
}

#[svc_input]
pub(super) struct Wish {
    pub(super) max_width: i32,
    pub(super) color: Option<Color>,
    pub(super) words: Vec<String>,
}

/// The number of times that functions with a body have run.
#[derive(Clone, Default)]
pub(super) struct Runs(pub(super) Arc<AtomicUsize>);

impl Runs {
    fn count(ctx: &Context<'_>) -> Result<()> {
        ctx.data::<Self>()?.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[svc::query]
async fn crates() -> Vec<Crate>;
#[svc::query(name = "crate")]
async fn one_crate(id: Uuid) -> Option<Crate>;
#[svc::query]
async fn totals() -> Aggregate<Thing>;
#[svc::query]
async fn resolved(ctx: &Context<'_>, n: Option<i32>) -> Result<i32> {
    Runs::count(ctx)?;
    Ok(n.unwrap_or(-1))
}
#[svc::query]
async fn required(ctx: &Context<'_>) -> Result<String> {
    Runs::count(ctx)?;
    Ok("from a function".to_owned())
}
#[svc::query]
async fn optional(ctx: &Context<'_>) -> Result<Option<String>> {
    Runs::count(ctx)?;
    Ok(None)
}
#[svc::query]
#[expect(clippy::too_many_arguments, reason = "one of each kind")]
async fn echo(
    ctx: &Context<'_>,
    text: Option<String>,
    id: Option<Uuid>,
    number: Option<i64>,
    yes: Option<bool>,
    at: Option<DateTime<Utc>>,
    color: Option<Color>,
    texts: Option<Vec<Option<String>>>,
    wish: Option<Wish>,
    json: Option<Value>,
) -> Result<Value> {
    Runs::count(ctx)?;
    let _ = (
        text,
        id,
        number,
        yes,
        at,
        color,
        texts,
        wish.map(|wish| (wish.max_width, wish.color, wish.words)),
        json,
    );
    Ok(json!("from a function"))
}
#[svc::mutation]
async fn add(ctx: &Context<'_>, name: String) -> Result<Option<Thing>> {
    Runs::count(ctx)?;
    let _ = name;
    Ok(None)
}
#[svc::mutation]
async fn touch(ctx: &Context<'_>) -> Result<Option<bool>> {
    Runs::count(ctx)?;
    Ok(None)
}

pub(super) const SQL: &str = r#"
CREATE TABLE tb_box AS SELECT md5(n::text)::uuid AS id, 'box "' || n || '"' AS identifier,
  CASE WHEN n % 2 = 0 THEN 'r' ELSE 'b' END AS color, n * 10 AS width, nullif(n, 2) AS depth, ARRAY['t' || n, 'all'] AS tags
  FROM generate_series(1, 3) n;
CREATE TABLE tb_thing (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text CHECK (name <> 'bad'), box_id uuid);
INSERT INTO tb_thing (name, box_id) SELECT CASE WHEN n % 3 > 0 THEN 'thing ' || n END, md5((n % 2 + 1)::text)::uuid FROM generate_series(1, 5) n;
CREATE VIEW v_box AS SELECT id, identifier, jsonb_build_object('id', id, 'identifier', identifier, 'color', color,
  'size', jsonb_build_object('width', width, 'depth', depth), 'tags', tags) AS data FROM tb_box;
CREATE VIEW v_thing AS SELECT id, name, box_id FROM tb_thing;
CREATE SEQUENCE runs;
"#;

/// The id of a box.
pub(super) fn box_id(n: i32) -> String {
    let ids = [
        "c4ca4238-a0b9-2382-0dcc-509a6f75849b",
        "c81e728d-9d4c-2f63-6f06-7f89cc14862c",
    ];
    ids[usize::try_from(n - 1).unwrap()].to_owned()
}

pub(super) struct Store {
    pub(super) app: App,
    pub(super) runs: Runs,
    pub(super) database: TestDatabase,
}

/// The options of a service on a database, without operations.
pub(super) fn options(config: SvcConfig, url: String, runs: &Runs) -> AppOptions {
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(url),
            ..config.database
        },
        schema: svc::SchemaConfig {
            auto_camel_case: true,
            ..config.schema
        },
        ..config
    };
    AppOptions::new()
        .config(config)
        .session_variables(SessionVariables::new().header("app.tenant_id", "x-tenant"))
        .data(runs.clone())
        .queries(queries![
            crates, one_crate, totals, resolved, required, optional, echo
        ])
        .mutations(mutations![add, touch])
}

/// A service with these operations.
pub(super) async fn store(operations: impl IntoIterator<Item = Operation>) -> Store {
    store_with(SvcConfig::default(), |options| {
        options.operations(operations)
    })
    .await
}

/// A service with these settings, and what `with` adds.
pub(super) async fn store_with(
    config: SvcConfig,
    with: impl FnOnce(AppOptions) -> AppOptions,
) -> Store {
    let database = TestDatabase::copy_of("operations", SQL).await;
    let runs = Runs::default();
    let app = App::serve(with(options(config, database.url(), &runs))).await;
    Store {
        app,
        runs,
        database,
    }
}

impl Store {
    /// Asks for an operation by the hash of its text.
    pub(super) async fn by_hash(&self, document: &str, variables: Value) -> Reply {
        let body = json!({ "extensions": persisted(document), "variables": variables });
        self.app.post(&body).await
    }

    pub(super) async fn by_id(&self, id: &str, variables: Value) -> Reply {
        self.app
            .post(&json!({ "documentId": id, "variables": variables }))
            .await
    }
}

pub(super) fn hash(document: &str) -> String {
    hex::encode(Sha256::digest(document))
}

pub(super) fn persisted(document: &str) -> Value {
    json!({ "persistedQuery": { "version": 1, "sha256Hash": hash(document) } })
}
