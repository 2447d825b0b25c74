//! Updates and deletes of the rows that the client's filter selects.

mod atomic;
mod changes;
mod keys;
mod locks;
mod lost_conditions;
mod plans;
mod policies;
mod refusals;
mod triggers;

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_item", authorize_fields = ["secret"])]
struct Item {
    id: i32,
    owner: String,
    shelf: String,
    price: i32,
    secret: Option<String>,
}

/// The same rows, with their relations to each other.
#[svc_type(sql_source = "v_item")]
struct Shelved {
    id: i32,
    shelf: String,
    price: i32,
    #[relation(from = "id", to = "id")]
    same: Option<One<Shelved>>,
    #[relation(from = "shelf", to = "shelf", aggregate)]
    beside: Many<Shelved>,
}

#[svc_input]
struct ItemPatch {
    owner: Patch<String>,
    shelf: Patch<String>,
    price: Patch<i32>,
    gone: Patch<bool>,
}

#[svc_result]
enum ItemsResult {
    Success { items: Vec<Item> },
    Error,
}

#[svc::query]
async fn items() -> Vec<Item>;
#[svc::mutation(update = "app.tb_item", key = "pk_item", by = filter, allow_empty_filter, atomic)]
async fn change(input: ItemPatch) -> Vec<Item>;
#[svc::mutation(update = "app.tb_item", key = "pk_item", by = filter)]
async fn change_on(shelf: String, input: ItemPatch) -> Vec<Item>;
#[svc::mutation(update = "app.tb_item", key = "pk_item", by = filter, max_rows = 2, allow_empty_filter)]
async fn change_few(input: ItemPatch) -> Vec<Item>;
#[svc::mutation(update = "app.tb_item", key = "pk_item", by = filter, max_rows = 2, allow_empty_filter)]
async fn try_few(input: ItemPatch) -> ItemsResult;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter, allow_empty_filter, atomic)]
async fn remove() -> Vec<Item>;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter, max_rows = 2, allow_empty_filter)]
async fn remove_few(id: i32) -> Vec<Item>;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter, allow_empty_filter)]
async fn remove_secret(secret: String) -> Vec<Item>;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter)]
async fn clear() -> Vec<Shelved>;

const SQL: &str = "
    CREATE SCHEMA app;
    CREATE TABLE app.tb_item (pk_item int PRIMARY KEY, owner text NOT NULL, shelf text NOT NULL,
      price int NOT NULL CONSTRAINT fair CHECK (price < 1000), secret text NOT NULL, gone bool NOT NULL DEFAULT false);
    INSERT INTO app.tb_item VALUES (4, 'ada', 'a', 40, 's4'), (1, 'ada', 'a', 10, 's1'), (2, 'bob', 'a', 20, 's2'),
      (3, 'ada', 'b', 30, 's3'), (5, 'bob', 'b', 50, 's5');
    CREATE VIEW v_item WITH (security_invoker) AS SELECT pk_item AS id, owner, shelf, price, secret FROM app.tb_item
      WHERE NOT gone;";

/// The table as it was made.
const BEFORE: &str = "1 ada a 10; 2 bob a 20; 3 ada b 30; 4 ada a 40; 5 bob b 50";

fn options(database: &TestDatabase) -> AppOptions {
    AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![items])
        .mutations(mutations![
            change,
            change_on,
            change_few,
            try_few,
            remove,
            remove_few,
            remove_secret
        ])
}

async fn serve() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let app = App::serve(options(&database)).await;
    (database, app)
}

/// The response to a mutation of a user.
async fn ask(app: &App, user: &str, mutation: &str) -> Value {
    let request = app.request("POST", "/graphql").header("x-user", user);
    let query = json!({ "query": format!("mutation {{ answer: {mutation} }}") });
    app.send(request.json(&query)).await.json()
}

/// The answer of a mutation without errors.
async fn done(app: &App, mutation: &str) -> Value {
    let answer = ask(app, "ada", mutation).await;
    assert_eq!(answer.get("errors"), None, "{mutation}: {answer}");
    answer["data"]["answer"].clone()
}

/// The table as text, in the order of the keys.
async fn stored(database: &TestDatabase) -> String {
    let sql = "SELECT coalesce(string_agg(concat_ws(' ', pk_item, owner, shelf, price, nullif(gone, false)), '; '
        ORDER BY pk_item), '') FROM app.tb_item";
    database.value(sql).await
}

/// The code and status of the only error, after which nothing is done.
fn failure(answer: &Value) -> (&str, &str) {
    let extensions = &answer["errors"][0]["extensions"];
    assert_eq!(extensions["mutation"], "NOT_DONE", "{answer}");
    let code = extensions["code"].as_str().unwrap_or_default();
    (code, extensions["status"].as_str().unwrap_or_default())
}
