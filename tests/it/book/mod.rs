//! The book: the SQL of its recipes runs, and services over it answer as it says.

mod audit;
mod coming_from;
mod files;
mod many_to_many;
mod search;
mod soft_delete;
mod tree;

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

const RECIPES: &str = include_str!("../../../docs/recipes.md");

/// The SQL of a page behind the mark of this name.
fn sql<'p>(page: &'p str, name: &str) -> &'p str {
    let (_, rest) = page
        .split_once(&format!("<!-- sql: {name} -->\n```sql\n"))
        .expect("the mark");
    rest.split_once("\n```").expect("the end of the SQL").0
}

/// A service over the SQL of a recipe, and rows of its own.
async fn serve(
    recipe: &str,
    rows: &str,
    with_schema: impl FnOnce(AppOptions) -> AppOptions,
) -> (App, TestDatabase) {
    let database = TestDatabase::new(&format!(
        "{}{}{rows}",
        sql(RECIPES, "all"),
        sql(RECIPES, recipe)
    ))
    .await;
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url());
    (App::serve(with_schema(options)).await, database)
}

/// The answer to a document, as the user of the header.
async fn ask_as(app: &App, user: &str, document: &str) -> Value {
    let body = json!({ "query": document }).to_string();
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-user-id", user);
    app.send(request.body(body)).await.json()
}
