//! The directive in the schema and in documents.

use serde_json::json;
use svc_tests::App;

use super::{database, names, options, plain_options};

#[tokio::test]
async fn the_directive_is_unknown_unless_it_is_enabled() {
    let database = database().await;
    let app = App::serve(plain_options(&database)).await;
    let reply = app.query("mutation @atomic { plainly(id: 20) }").await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
    assert!(reply.message().contains("@atomic"), "{}", reply.text);
    assert!(!plain_options(&database).sdl().unwrap().contains("@atomic"));
    assert_eq!(names(&database).await, ["one", "two"]);
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
