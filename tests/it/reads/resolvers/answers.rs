//! Computed fields, lists, interfaces and unions in answers.

use serde_json::json;

use super::app;

#[tokio::test]
async fn computed_fields_take_arguments_with_defaults() {
    let reply = app()
        .await
        .query("{ one { says a: says(word: \"purr\", times: 2) slowName } }")
        .await;
    assert_eq!(
        reply.text,
        r#"{"data":{"one":{"says":"Tom: meow","a":"Tom: purr Tom: purr","slowName":"Tom"}}}"#
    );
}

#[tokio::test]
async fn computed_fields_run_on_planned_rows_too() {
    let reply = app()
        .await
        .query("{ storedCats(orderBy: [{id: DESC}], limit: 2) { id slowName says(times: 1) __typename } }")
        .await;
    assert_eq!(
        reply.data()["storedCats"],
        json!([
            { "id": 3, "slowName": "cat 3", "says": "cat 3: meow", "__typename": "Cat" },
            { "id": 2, "slowName": "cat 2", "says": "cat 2: meow", "__typename": "Cat" },
        ])
    );
}

#[tokio::test]
async fn lists_keep_their_nulls_and_order() {
    let app = app().await;
    let sync = app.query("{ cats { id name } }").await;
    assert_eq!(
        sync.text,
        r#"{"data":{"cats":[{"id":1,"name":"Tom"},null,{"id":2,"name":"Kit \"ü\""}]}}"#
    );
    let waiting = app.query("{ cats { id name: slowName } }").await;
    assert_eq!(
        waiting.text, sync.text,
        "waiting changes nothing in the answer"
    );
}

#[tokio::test]
async fn interfaces_and_unions_answer_by_the_value_s_type() {
    let app = app().await;
    let reply = app
        .query("{ pets { __typename name ... on Dog { good } ...c } } fragment c on Cat { says }")
        .await;
    assert_eq!(
        reply.text,
        r#"{"data":{"pets":[{"__typename":"Dog","name":"Rex","good":true},{"__typename":"Cat","name":"Tom","says":"Tom: meow"}]}}"#
    );
    let reply = app
        .query("{ found { ... on Pet { id } ... on Dog { good } } }")
        .await;
    assert_eq!(
        reply.text,
        r#"{"data":{"found":[{"id":1},{"id":3,"good":true}]}}"#
    );
}

#[tokio::test]
async fn planned_interfaces_read_the_type_from_the_row() {
    let app = app().await;
    let query = "{ storedPets(where: {id: {gt: 2}}, orderBy: [{id: ASC}]) { name __typename ... on Dog { good } } }";
    let expected = json!([{ "name": "cat 3", "__typename": "Cat" }, { "name": "dog", "__typename": "Dog", "good": true }]);
    assert_eq!(app.query(query).await.data()["storedPets"], expected);
    let query = "{ storedPets(where: {id: {gt: 2}}, orderBy: [{id: ASC}]) { name ... on Cat { slowName } ... on Dog { good } } }";
    let expected =
        json!([{ "name": "cat 3", "slowName": "cat 3" }, { "name": "dog", "good": true }]);
    assert_eq!(app.query(query).await.data()["storedPets"], expected);
}

#[tokio::test]
async fn conditions_use_variables_and_their_defaults() {
    let app = app().await;
    let query = "query ($a: Boolean = true, $b: Boolean! = false) { one { id @skip(if: $a) name @include(if: $b) ... @include(if: $a) { says } } }";
    assert_eq!(
        app.query(query).await.text,
        r#"{"data":{"one":{"says":"Tom: meow"}}}"#
    );
    let reply = app
        .query_with(query, json!({ "a": false, "b": true }))
        .await;
    assert_eq!(reply.text, r#"{"data":{"one":{"id":1,"name":"Tom"}}}"#);
    let reply = app
        .query("{ one { id @skip(if: true) @include(if: true) name @skip(if: true) } }")
        .await;
    assert_eq!(reply.text, r#"{"data":{"one":{}}}"#);
}
