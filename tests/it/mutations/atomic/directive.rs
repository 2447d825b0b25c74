//! The directive in the schema and in documents.

use serde_json::json;
use svc::prelude::*;
use svc_tests::App;

use super::{TakeItemResult, database, items, names, options};

#[svc::mutation(function = "take_item")]
async fn take_alone(name: String) -> TakeItemResult;

/// Counts an attempt, and reports its failure as null.
#[svc::mutation]
async fn count_alone(ctx: &Context<'_>, id: i32) -> Result<Option<bool>> {
    let _counted: i32 = ctx
        .db()
        .call("add_item", [json!(id), json!("counted")])
        .await?;
    Ok(None)
}

#[tokio::test]
async fn the_directive_is_unknown_unless_a_mutation_is_atomic() {
    let database = database().await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![items])
        .mutations(mutations![count_alone]);
    assert!(!options.sdl().unwrap().contains("@atomic"));
    let app = App::serve(options).await;
    let reply = app.query("mutation @atomic { countAlone(id: 20) }").await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
    assert!(reply.message().contains("@atomic"), "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two"]);
}

#[tokio::test]
async fn a_mutation_that_is_not_atomic_is_no_part_of_an_operation() {
    let database = database().await;
    let options = options(&database).mutations(mutations![take_alone, count_alone]);
    let app = App::serve(options).await;
    for (name, alone) in [
        ("takeAlone", r#"takeAlone(name: "taken") { __typename }"#),
        ("countAlone", "countAlone(id: 20)"),
    ] {
        for query in [
            format!("mutation @atomic {{ {alone} }}"),
            format!("mutation @atomic {{ plainly(id: 21) ...on Mutation {{ b: {alone} }} fail }}"),
        ] {
            let reply = app.query(&query).await;
            assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
            let message = format!("`{name}` cannot be a part of an operation with `@atomic`");
            assert_eq!(reply.message(), message, "{query}");
        }
    }
    assert_eq!(names(&database).await, ["one", "two"]);
    let reply = app.query("mutation { countAlone(id: 20) fail }").await;
    assert_eq!(reply.json()["data"]["countAlone"], json!(null));
    assert_eq!(names(&database).await, ["one", "two", "counted"]);
}

#[tokio::test]
async fn only_mutations_take_the_directive() {
    let database = database().await;
    let sdl = options(&database).sdl().unwrap();
    assert!(sdl.contains("directive @atomic on MUTATION\n"), "{sdl}");
    let app = App::serve(options(&database)).await;
    for query in [
        "query @atomic { items { id } }",
        "subscription @atomic { said }",
        "mutation { plainly(id: 20) @atomic }",
        "mutation @atomic @atomic { plainly(id: 20) }",
    ] {
        let reply = app.query(query).await;
        assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
    }
    let directives = app
        .query("{ __schema { directives { name locations isRepeatable args { name } } } }")
        .await
        .data()["__schema"]["directives"]
        .clone();
    let expected =
        json!({"name": "atomic", "locations": ["MUTATION"], "isRepeatable": false, "args": []});
    assert!(
        directives.as_array().unwrap().contains(&expected),
        "{directives}"
    );
    assert_eq!(names(&database).await, ["one", "two"]);
}
