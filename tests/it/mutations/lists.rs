//! Functions that give many rows: of a view, with what it has in `data`, or only their ids.

use serde_json::{Value, json};
use svc::authz::RowDecision;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
    name: String,
    price: i32,
    owner_id: Option<i32>,
    #[relation(from = "owner_id")]
    owner: Option<One<Item>>,
}

#[svc_type]
impl Item {
    fn loud(&self) -> String {
        self.name.to_uppercase()
    }
}

#[svc::query]
async fn items() -> Vec<Item>;
#[svc::mutation(function = "fn_rows")]
async fn rows() -> Vec<Item>;
#[svc::mutation(function = "fn_ids")]
async fn ids(ids: Vec<i32>) -> Vec<Item>;
#[svc::mutation(function = "fn_partial")]
async fn partial() -> Vec<Item>;
#[svc::mutation(function = "fn_id")]
async fn one(id: i32) -> Option<Item>;
#[svc::mutation(function = "fn_row")]
async fn row() -> Item;
#[svc::mutation]
async fn by_call(ctx: &Context<'_>, ids: Vec<i32>) -> Result<Vec<Item>> {
    ctx.db().call("fn_ids", [json!(ids)]).await
}

const SQL: &str = r#"
CREATE TABLE tb_item (id int, data jsonb);
INSERT INTO tb_item SELECT i, jsonb_build_object('id', i, 'name', 'item ' || i, 'owner_id', 1, 'price', CASE WHEN i = 3 THEN '"junk"' ELSE to_jsonb(i) END)
FROM generate_series(1, 4) AS i;
CREATE VIEW v_item AS SELECT id, data FROM tb_item;
CREATE FUNCTION fn_rows() RETURNS SETOF v_item LANGUAGE sql AS 'SELECT * FROM v_item ORDER BY id';
CREATE FUNCTION fn_row() RETURNS v_item LANGUAGE sql AS 'SELECT * FROM v_item WHERE id = 2';
CREATE FUNCTION fn_ids(ids int[]) RETURNS SETOF int LANGUAGE sql AS 'SELECT unnest(ids)';
CREATE FUNCTION fn_id(id int) RETURNS int LANGUAGE sql AS 'SELECT id';
CREATE FUNCTION fn_partial() RETURNS TABLE (id int, name text) LANGUAGE sql
AS $$ VALUES (2, 'two'), (4, 'four'), (9, 'gone') $$;
"#;

async fn app() -> (App, TestDatabase) {
    app_with(|options| options).await
}

async fn app_with(configure: impl FnOnce(AppOptions) -> AppOptions) -> (App, TestDatabase) {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url())
        .queries(queries![items])
        .mutations(mutations![rows, ids, partial, one, row, by_call]);
    (App::serve(configure(options)).await, database)
}

/// The answer to a mutation without errors.
async fn done(app: &App, field: &str) -> Value {
    app.query(&format!("mutation {{ it: {field} }}"))
        .await
        .data()["it"]
        .clone()
}

#[tokio::test]
async fn rows_of_a_view_are_read_with_their_data() {
    let (app, _database) = app().await;
    let all = done(&app, "rows { id name }").await;
    assert_eq!(all[2], json!({ "id": 3, "name": "item 3" }), "{all}");
    assert_eq!(
        all.as_array().unwrap().len(),
        4,
        "an unselected value that breaks its type fails nothing"
    );
    assert_eq!(
        done(&app, "row { id price loud owner { name } }").await,
        json!({ "id": 2, "price": 2, "loud": "ITEM 2", "owner": { "name": "item 1" } })
    );
    let broken = app.query("mutation { rows { price } }").await.json();
    assert_eq!(
        (
            &broken["errors"][0]["path"],
            broken["errors"].as_array().unwrap().len()
        ),
        (&json!(["rows", 2, "price"]), 1)
    );
}

#[tokio::test]
async fn ids_are_read_again_from_the_view_in_one_statement() {
    let (app, database) = app().await;
    let before = database.statements("v_item").await;
    let found = done(&app, "ids(ids: [4, 1, 3, 4]) { id name }").await;
    let named = |id: i32| json!({ "id": id, "name": format!("item {id}") });
    assert_eq!(
        found,
        json!([named(4), named(1), named(3), named(4)]),
        "their order is kept"
    );
    assert_eq!(database.statements("v_item").await - before, 1);
    assert_eq!(
        done(&app, "ids(ids: [7, 2]) { id }").await,
        json!([{ "id": 2 }]),
        "a row that has gone is left out"
    );
    assert_eq!(done(&app, "ids(ids: []) { id }").await, json!([]));
    assert_eq!(
        done(&app, "one(id: 2) { name loud }").await,
        json!({ "name": "item 2", "loud": "ITEM 2" })
    );
    assert_eq!(done(&app, "one(id: 7) { name }").await, Value::Null);
    assert_eq!(
        done(&app, "byCall(ids: [2, 1]) { id loud }").await,
        json!([{ "id": 2, "loud": "ITEM 2" }, { "id": 1, "loud": "ITEM 1" }])
    );
}

#[tokio::test]
async fn a_row_requested_twice_is_returned_twice_under_a_row_policy() {
    let all_but_one = |_: &Context<'_>| Ok(RowDecision::allow_where(col("id").gt(1)));
    let (app, _database) = app_with(|options| options.row_policy::<Item>(all_but_one)).await;
    assert_eq!(
        done(&app, "ids(ids: [4, 1, 2, 4]) { id }").await,
        json!([{ "id": 4 }, { "id": 2 }, { "id": 4 }])
    );
}

#[tokio::test]
async fn fields_omitted_by_a_function_are_read_from_the_view() {
    let (app, _database) = app().await;
    let given = json!([{ "name": "two" }, { "name": "four" }, { "name": "gone" }]);
    assert_eq!(
        done(&app, "partial { name }").await,
        given,
        "nothing is read where all is given"
    );
    let reply = app
        .query("mutation { partial { name price } }")
        .await
        .json();
    // The row that has gone is what the function says, which is not all.
    assert_eq!(
        reply["errors"][0]["path"],
        json!(["partial", 2, "price"]),
        "{reply}"
    );
}
