//! The field in the schema, and the places where it is not available.

use serde_json::json;
use svc::prelude::*;
use svc::{Operation, create_svc_app};
use svc_tests::App;

use super::{
    AddItemResult, AddItemResultError, AddItemResultSuccess, Item, adding, database, names,
    options, service,
};

#[tokio::test]
async fn only_the_results_that_declare_it_have_the_field() {
    let database = database().await;
    let sdl = options(&database).sdl().unwrap();
    assert_eq!(sdl.matches("  query: Query\n").count(), 4, "{sdl}");
    let app = App::serve(options(&database)).await;
    let query = r#"{
        declared: __type(name: "AddItemSuccess") { fields { name type { kind name } } }
        other: __type(name: "PlainSuccess") { fields { name } }
    }"#;
    let data = app.query(query).await.data();
    let field = json!({ "name": "query", "type": { "kind": "OBJECT", "name": "Query" } });
    let declared = data["declared"]["fields"].as_array().unwrap();
    assert_eq!(declared.last(), Some(&field));
    let other = data["other"]["fields"].as_array().unwrap();
    assert!(!other.contains(&json!({ "name": "query" })), "{data}");
}

#[tokio::test]
async fn an_atomic_operation_has_no_query() {
    let (app, database) = service().await;
    let query = adding("items { id }").replacen("mutation", "mutation @atomic", 1);
    let reply = app.query(&query).await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
    assert_eq!(
        reply.message(),
        "`query` is not available in an operation with `@atomic`"
    );
    assert_eq!(names(&database).await, ["one", "two"]);
    let query = r#"mutation @atomic { addItem(id: 3, name: "three") { __typename } }"#;
    app.query(query).await.data();
    assert_eq!(names(&database).await, ["one", "two", "three"]);
}

#[tokio::test]
async fn introspection_is_not_available_below_query() {
    let (app, database) = service().await;
    for (fields, name) in [
        ("__schema { queryType { name } }", "__schema"),
        (r#"a: __type(name: "Item") { name }"#, "__type"),
    ] {
        let reply = app.query(&adding(fields)).await;
        assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
        let message = format!("`{name}` is available in queries only");
        assert_eq!(reply.message(), message);
    }
    assert_eq!(names(&database).await, ["one", "two"]);
}

#[tokio::test]
async fn the_sql_of_an_operation_cannot_answer_it() {
    let document = adding("items { id }").replacen("mutation", "mutation Add", 1);
    let operation = Operation::new(document).sql("SELECT NULL::jsonb AS \"addItem\"");
    let options = options(&database().await).operations([operation]);
    let refused = create_svc_app(options).await.map(drop).unwrap_err();
    let message = "`AddItemSuccess.query` is read after the mutation, which SQL cannot answer; leave the field out, \
                   or register the operation without SQL";
    assert!(refused.to_string().contains(message), "{refused}");
}

#[tokio::test]
async fn an_operation_without_sql_can_be_registered() {
    let database = database().await;
    let document = adding("item(id: 3) { name }").replacen("mutation", "mutation Add", 1);
    let app = App::serve(options(&database).operations([Operation::new(document)])).await;
    let reply = app.post(&json!({ "documentId": "Add" })).await;
    assert_eq!(
        reply.data()["addItem"]["query"],
        json!({ "item": { "name": "three" } })
    );
}

#[svc::query]
fn found() -> AddItemResult {
    AddItemResultError::new("not_found", "there is none").into()
}

#[svc::mutation]
fn several() -> Vec<AddItemResult> {
    Vec::new()
}

#[svc::mutation]
fn bare() -> AddItemResultSuccess {
    AddItemResultSuccess::new("created", None)
}

#[svc_type]
struct Nested {
    last: Option<AddItemResult>,
}

#[svc::mutation]
fn nested() -> Nested {
    Nested { last: None }
}

#[svc_result(query)]
enum NamedResult {
    Success {
        #[svc(name = "query")]
        item: Option<Item>,
    },
    Error,
}

#[svc::mutation(function = "add_item")]
async fn named(id: i32, name: String) -> NamedResult;

#[tokio::test]
async fn other_uses_of_such_a_result_are_errors() {
    let options = options(&database().await)
        .queries(queries![found])
        .mutations(mutations![several, bare, nested, named]);
    let error = options.sdl().unwrap_err().to_string();
    for (path, why) in [
        ("definition::found", "this is not a mutation"),
        ("definition::several", "this is a list of results"),
        (
            "definition::bare",
            "the success is returned with its result alone",
        ),
        ("definition::Nested::last", "this is not a mutation"),
    ] {
        let is_reported = error.lines().any(|line| {
            line.contains(&format!("{path}` leads to `"))
                && line.contains(&format!(
                    "query::AddItemResult`, whose success has the field `query`, but {why}"
                ))
        });
        assert!(is_reported, "{path}: {error}");
    }
    let clash = "both become `query` in GraphQL";
    assert_eq!(error.matches(clash).count(), 1, "{error}");
    assert_eq!(error.lines().count(), 6, "{error}");
}
