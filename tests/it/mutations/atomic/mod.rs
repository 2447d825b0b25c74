//! Mutations with `@atomic`: all fields of the operation take effect, or none.

mod adapted;
mod check_events;
mod checks;
mod commit;
mod conflicts;
mod directive;
mod dropped;
mod failures;
mod outcomes;
mod parts;
mod session;
mod transports;

use std::sync::atomic::{AtomicI32, Ordering};

use serde_json::{Value, json};
use svc::DatabaseConfig;
use svc::events::InProcessEvents;
use svc::prelude::*;
use svc_tests::{Reply, TestDatabase, eventually};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
    name: String,
    #[relation]
    parts: Many<Part>,
}

#[svc_type(sql_source = "v_part")]
struct Part {
    id: i32,
    item_id: i32,
}

#[svc_input]
struct NewItem {
    id: i32,
    name: String,
}

#[svc_input]
struct ItemPatch {
    name: String,
}

#[svc_result]
enum TakeItemResult {
    Success { item: Item },
    Error,
}

#[svc_result]
enum KeepItemResult {
    Success { item: Option<Item> },
    Error,
}

#[svc::query]
async fn items() -> Vec<Item>;
#[svc::query(cache = 600)]
async fn kept_items() -> Vec<Item>;
#[svc::query(cache = 600)]
fn tick() -> i32 {
    static TICKS: AtomicI32 = AtomicI32::new(0);
    TICKS.fetch_add(1, Ordering::SeqCst)
}

#[svc::mutation(insert = "tb_item", atomic)]
async fn create_item(input: NewItem) -> Option<Item>;
#[svc::mutation(insert = "tb_item", atomic)]
async fn must_create(input: NewItem) -> Item;
#[svc::mutation(update = "tb_item", atomic)]
async fn update_item(id: i32, input: ItemPatch) -> Option<Item>;
#[svc::mutation(upsert = "tb_item", conflict = "id", atomic)]
async fn put_item(input: NewItem) -> Option<Item>;
#[svc::mutation(delete = "tb_item", atomic)]
async fn delete_item(id: i32) -> Option<Item>;
#[svc::mutation(function = "add_item", atomic)]
async fn add_item(id: i32, name: String) -> Option<i32>;
#[svc::mutation(function = "take_item", atomic)]
async fn take_item(name: String) -> TakeItemResult;
#[svc::mutation(function = "step", atomic)]
async fn step(id: i32) -> Option<i32>;
#[svc::mutation(function = "doze", atomic)]
async fn doze() -> Option<i32>;

const INSERT: &str = "INSERT INTO tb_item VALUES ($1, $2)";

#[svc::mutation(atomic)]
async fn in_transaction(ctx: &Context<'_>, id: i32) -> Result<Option<Item>> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute(INSERT, [json!(id), json!("body")]).await?;
    tx.execute("INSERT INTO tb_part VALUES ($1, $1)", [json!(id)])
        .await?;
    tx.commit().await?;
    ctx.db().find_one::<Item>().filter(col("id").eq(id)).await
}

#[svc::mutation(atomic)]
async fn with_retries(ctx: &Context<'_>, id: i32) -> Result<Option<bool>> {
    let run = ctx.db().transaction_with_retries(3, |tx| {
        Box::pin(async move {
            tx.execute(INSERT, [json!(id), json!("retried")]).await?;
            Ok(Some(true))
        })
    });
    run.await
}

#[svc::mutation(atomic)]
async fn plainly(ctx: &Context<'_>, id: i32) -> Result<Option<i32>> {
    ctx.db().call("add_item", [json!(id), json!("plain")]).await
}

#[svc::mutation(atomic)]
async fn step_in_body(ctx: &Context<'_>, id: i32) -> Result<Option<i32>> {
    ctx.db().call("step", [json!(id)]).await
}

/// Makes the writes of a returned transaction undone, and succeeds.
#[svc::mutation(atomic)]
async fn roll_back(ctx: &Context<'_>, id: i32, drops: bool) -> Result<Option<bool>> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute(INSERT, [json!(id), json!("undone")]).await?;
    if drops {
        drop(tx);
    } else {
        tx.rollback().await?;
    }
    Ok(Some(true))
}

/// Does not return the error of its call.
#[svc::mutation(atomic)]
async fn swallow(ctx: &Context<'_>) -> Result<Option<bool>> {
    let called: Result<i32> = ctx.db().call("add_item", [json!(1), json!("again")]).await;
    Ok(Some(called.is_ok()))
}

/// Returns a failure before a success.
#[svc::mutation(atomic)]
async fn keep_items(ctx: &Context<'_>) -> Result<Option<Vec<KeepItemResult>>> {
    let _added: i32 = ctx
        .db()
        .call("add_item", [json!(50), json!("listed")])
        .await?;
    Ok(Some(vec![
        KeepItemResultError::new("conflict:taken", "it is taken").into(),
        KeepItemResultSuccess::new("created", None).into(),
    ]))
}

#[svc::mutation(atomic)]
async fn with_sqlx(ctx: &Context<'_>) -> Result<Option<bool>> {
    ctx.db().sqlx_transaction().await?.commit().await?;
    Ok(Some(true))
}

#[svc::mutation(atomic)]
fn fail() -> Result<Option<bool>> {
    Err(Error::new(ErrorCode::BadUserInput, "it failed"))
}

#[svc::mutation(atomic)]
fn crash(text: String) -> Option<bool> {
    panic!("{text}")
}

#[svc::mutation(atomic)]
async fn say(ctx: &Context<'_>, text: String) -> Result<Option<bool>> {
    ctx.publish("said", &text).await?;
    Ok(Some(true))
}

#[svc::subscription]
async fn said(ctx: &Context<'_>) -> Result<impl Stream<Item = Result<String>> + use<>> {
    ctx.events("said").await
}

/// The first two steps that meet wait for each other, and no later ones do: sequences show every
/// transaction what the others have done.
const SQL: &str = "
CREATE SEQUENCE meet;
CREATE SEQUENCE runs;
CREATE TABLE tb_item (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE tb_part (id int PRIMARY KEY, item_id int NOT NULL);
CREATE VIEW v_item AS SELECT id, name FROM tb_item;
CREATE VIEW v_part AS SELECT id, item_id FROM tb_part;
INSERT INTO tb_item VALUES (1, 'one'), (2, 'two');
CREATE FUNCTION add_item(new_id int, new_name text) RETURNS int LANGUAGE sql
    AS 'INSERT INTO tb_item VALUES ($1, $2) RETURNING id';
CREATE FUNCTION take_item(new_name text) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO tb_item VALUES (30, new_name);
    RETURN jsonb_build_object('status', 'conflict:taken', 'message', 'the name is taken');
END $$;
CREATE FUNCTION step(item int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    PERFORM nextval('runs');
    UPDATE tb_item SET name = name || '+' WHERE id = item;
    IF nextval('meet') <= 2 THEN
        FOR n IN 1..2000 LOOP
            EXIT WHEN (SELECT last_value FROM meet) >= 2;
            PERFORM pg_sleep(0.01);
        END LOOP;
    END IF;
    RETURN item;
END $$;
CREATE FUNCTION doze() RETURNS int LANGUAGE sql AS 'SELECT pg_sleep(600); SELECT 1';";

async fn database() -> TestDatabase {
    TestDatabase::copy_of("atomic", SQL).await
}

/// The service with these settings of its database.
fn options_with(database: DatabaseConfig) -> AppOptions {
    let config = SvcConfig {
        database,
        ..SvcConfig::default()
    };
    registered(AppOptions::new().config(config))
}

fn registered(options: AppOptions) -> AppOptions {
    options
        .auto_camel_case(true)
        .queries(queries![items, kept_items, tick])
        .mutations(mutations![
            create_item,
            must_create,
            update_item,
            put_item,
            delete_item,
            add_item,
            take_item,
            step,
            doze
        ])
        .mutations(mutations![
            in_transaction,
            with_retries,
            plainly,
            step_in_body,
            roll_back,
            swallow,
            keep_items,
            with_sqlx,
            fail,
            crash,
            say
        ])
        .subscriptions(subscriptions![said])
        .event_source(InProcessEvents::new())
        .event_channels(["said"])
}

fn options(database: &TestDatabase) -> AppOptions {
    registered(AppOptions::new().database_url(database.url()))
}

async fn names(database: &TestDatabase) -> Vec<String> {
    let rows: Vec<(String,)> = database.rows("SELECT name FROM tb_item ORDER BY id").await;
    rows.into_iter().map(|(name,)| name).collect()
}

/// Waits until no transaction of the service is open.
async fn until_idle(database: &TestDatabase) {
    eventually(async || {
        let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                    AND state <> 'idle' AND pid <> pg_backend_pid()";
        match database.value::<i64>(open).await {
            0 => Ok(()),
            open => Err(format!("{open} transactions are open")),
        }
    })
    .await;
}

/// The code, the effect and the root field of each error.
fn errors(reply: &Reply) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let json = reply.json();
    let errors = json["errors"].as_array().cloned().unwrap_or_default();
    let error = |error: &Value| {
        let extensions = &error["extensions"];
        (
            text(&extensions["code"]),
            text(&extensions["mutation"]),
            text(&error["path"][0]),
        )
    };
    errors.iter().map(error).collect()
}

fn error(code: &str, field: &str) -> (String, String, String) {
    (code.to_owned(), "NOT_DONE".to_owned(), field.to_owned())
}
