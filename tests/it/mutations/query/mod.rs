//! The field `query` of results: queries after a mutation, in the same request.

mod definition;
mod errors;
mod reads;
mod rules;

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
    name: String,
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

#[svc_result(query)]
enum AddItemResult {
    Success { item: Option<Item> },
    Error,
}

#[svc_result(query)]
enum CreateItemResult {
    Success { item: Item },
    Error,
}

#[svc_result(query)]
enum ChangeItemsResult {
    Success { items: Vec<Item> },
    Error,
}

#[svc_result(query)]
enum RenameItemResult {
    Success,
    Error,
}

#[svc_result]
enum PlainResult {
    Success { item: Option<Item> },
    Error,
}

#[svc::query]
async fn items() -> Vec<Item>;
#[svc::query]
async fn item(id: i32) -> Option<Item>;
#[svc::query(cache = 600)]
async fn kept_items() -> Vec<Item>;
#[svc::query(cache = 600)]
fn tick() -> String {
    Uuid::new_v4().to_string()
}
#[svc::query]
fn optional() -> Result<Option<i32>> {
    Err(Error::new(ErrorCode::Forbidden, "not you"))
}
#[svc::query]
fn required() -> Result<i32> {
    Err(Error::new(ErrorCode::Forbidden, "not you"))
}
#[svc::query]
fn crash(text: String) -> Option<i32> {
    panic!("{text}")
}
#[svc::query]
async fn pending() -> Option<i32> {
    std::future::pending().await
}

#[svc::mutation(function = "add_item", atomic)]
async fn add_item(id: i32, name: String) -> AddItemResult;
#[svc::mutation(function = "add_item")]
async fn plain(id: i32, name: String) -> PlainResult;
#[svc::mutation(insert = "tb_item")]
async fn create_item(input: NewItem) -> CreateItemResult;
#[svc::mutation(update = "tb_item", by = filter, max_rows = 10)]
async fn change_items(input: ItemPatch) -> ChangeItemsResult;
#[svc::mutation]
async fn rename_item(ctx: &Context<'_>, id: i32, name: String) -> Result<Option<RenameItemResult>> {
    let renamed: Option<i32> = ctx
        .db()
        .call("rename_item", [json!(id), json!(name)])
        .await?;
    Ok(renamed.map(|_| RenameItemResultSuccess::new("updated").into()))
}

const SQL: &str = "
CREATE TABLE tb_item (id int PRIMARY KEY, name text NOT NULL);
CREATE VIEW v_item AS SELECT id, name FROM tb_item;
INSERT INTO tb_item VALUES (1, 'one'), (2, 'two');
CREATE FUNCTION add_item(new_id int, new_name text) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
    IF new_name = 'taken' THEN
        RETURN jsonb_build_object('status', 'conflict:taken', 'message', 'the name is taken');
    END IF;
    INSERT INTO tb_item VALUES (new_id, new_name);
    RETURN jsonb_build_object('status', 'created', 'entity_id', new_id::text);
END $$;
CREATE FUNCTION rename_item(item int, new_name text) RETURNS int LANGUAGE sql
    AS 'UPDATE tb_item SET name = $2 WHERE id = $1 RETURNING id';";

/// Adds the item 3 and reads these fields below `query`.
fn adding(fields: &str) -> String {
    format!(
        r#"mutation {{ addItem(id: 3, name: "three") {{ ... on AddItemSuccess {{ status query {{ {fields} }} }} }} }}"#
    )
}

const NAMES: &str = "items(orderBy: [{id: ASC}]) { name }";

async fn database() -> TestDatabase {
    TestDatabase::copy_of("mutation_query", SQL).await
}

fn options(database: &TestDatabase) -> AppOptions {
    AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![
            items, item, kept_items, tick, optional, required, crash, pending
        ])
        .mutations(mutations![
            add_item,
            plain,
            create_item,
            change_items,
            rename_item
        ])
}

async fn service() -> (App, TestDatabase) {
    let database = database().await;
    (App::serve(options(&database)).await, database)
}

async fn names(database: &TestDatabase) -> Vec<String> {
    let rows: Vec<(String,)> = database.rows("SELECT name FROM tb_item ORDER BY id").await;
    rows.into_iter().map(|(name,)| name).collect()
}

/// The code, the effect and the path of the only error.
fn error(reply: &Reply) -> (String, String, Value) {
    let json = reply.json();
    let errors = json["errors"].as_array().cloned().unwrap_or_default();
    assert_eq!(errors.len(), 1, "{}", reply.text);
    let text = |key: &str| {
        errors[0]["extensions"][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    (text("code"), text("mutation"), errors[0]["path"].clone())
}
