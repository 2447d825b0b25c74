//! Variables.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{SQL, c_rows, d_rows, t_rows};

#[svc_input]
struct Given {
    word: MaybeUndefined<String>,
    inner: Option<Box<Given>>,
}

/// Says what it was given.
#[svc::query]
fn tell(given: Given, #[svc(default = 3)] times: Option<i32>) -> String {
    let inner = given.inner.map(|inner| format!("{:?}", inner.word));
    format!("{:?} {inner:?} {times:?}", given.word)
}
#[svc::query]
fn need(word: String) -> String {
    word
}

async fn app() -> App {
    let database = TestDatabase::copy_of("items", SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    App::serve(options.queries(queries![tell, need, c_rows, d_rows, t_rows])).await
}

/// A variable that is not declared, not used, not given, or of another type.
#[tokio::test]
async fn an_invalid_variable_is_an_error() {
    let app = app().await;
    const DOCUMENT: &str = "GRAPHQL_VALIDATION_FAILED";
    const VALUE: &str = "BAD_USER_INPUT";
    for (query, variables, code, part) in [
        ("{ need(word: $w) }", json!({ "w": "x" }), DOCUMENT, "$w"),
        (
            "query A($v: String!) { need(word: $w) }",
            json!({ "w": "x", "v": "x" }),
            DOCUMENT,
            "$w",
        ),
        (
            "{ ...f } fragment f on Query { need(word: $w) }",
            json!({ "w": "x" }),
            DOCUMENT,
            "$w",
        ),
        (
            r#"query ($w: String) { need(word: "x") }"#,
            json!({ "w": "x" }),
            DOCUMENT,
            "$w",
        ),
        (
            "query ($w: String) { need(word: $w) }",
            json!({ "w": "x" }),
            DOCUMENT,
            "$w",
        ),
        (
            "query ($w: Int!) { need(word: $w) }",
            json!({ "w": 1 }),
            DOCUMENT,
            "$w",
        ),
        (
            "query ($w: String!, $w: String!) { need(word: $w) }",
            json!({ "w": "x" }),
            DOCUMENT,
            "w",
        ),
        (
            "query ($w: Nothing!) { need(word: $w) }",
            json!({ "w": "x" }),
            DOCUMENT,
            "Nothing",
        ),
        (
            "query ($w: String!) { need(word: $w) }",
            json!({}),
            VALUE,
            "variable `$w` of required type `String!` was not provided",
        ),
        (
            "query ($w: String!) { need(word: $w) }",
            Value::Null,
            VALUE,
            "variable `$w` of required type `String!` was not provided",
        ),
        (
            "query ($w: String!) { need(word: $w) }",
            json!({ "w": null }),
            VALUE,
            "null is not allowed here",
        ),
        (
            "query ($w: String!) { need(word: $w) }",
            json!({ "W": "x" }),
            VALUE,
            "`$w`",
        ),
        (
            "query ($w: String!) { need(word: $w) }",
            json!({ "w": 1 }),
            VALUE,
            "`$w`",
        ),
        (
            "query ($w: String!) { need(word: $w) }",
            json!({ "w": ["x"] }),
            VALUE,
            "`$w`",
        ),
        (
            "query ($g: Given!) { tell(given: $g) }",
            json!({ "g": { "nope": 1 } }),
            VALUE,
            "no field `nope`",
        ),
        (
            "query ($g: Given!) { tell(given: $g) }",
            json!({ "g": { "inner": { "word": 1 } } }),
            VALUE,
            "`$g.inner.word`",
        ),
    ] {
        let reply = app.query_with(query, variables.clone()).await;
        assert_eq!(reply.code(), code, "{query} {variables}: {}", reply.text);
        let json = reply.json();
        let messages = json["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["message"].as_str().unwrap());
        assert!(
            messages.into_iter().any(|message| message.contains(part)),
            "{query} {variables}: {}",
            reply.text
        );
        assert!(
            reply.json().get("data").is_none_or(Value::is_null),
            "{}",
            reply.text
        );
    }
    let more = app
        .query_with(
            "query ($w: String!) { need(word: $w) }",
            json!({ "w": "x", "other": [1] }),
        )
        .await;
    assert_eq!(
        more.data()["need"],
        "x",
        "a value that is not declared is ignored"
    );
}

/// Absent is not null, in an argument, in an input object and at any depth.
#[tokio::test]
async fn absent_values_are_not_null() {
    let app = app().await;
    let query =
        "query ($w: String, $i: Given, $t: Int) { tell(given: {word: $w, inner: $i}, times: $t) }";
    let object = "query ($g: Given!) { tell(given: $g) }";
    let default = r#"query ($w: String = "d", $t: Int = 5) { tell(given: {word: $w}, times: $t) }"#;
    for (query, variables, expected) in [
        (query, json!({}), "Undefined None Some(3)"),
        (
            query,
            json!({ "w": null, "i": null, "t": null }),
            "Null None None",
        ),
        (
            query,
            json!({ "w": "x", "i": {}, "t": 1 }),
            r#"Value("x") Some("Undefined") Some(1)"#,
        ),
        (
            query,
            json!({ "i": { "word": null } }),
            r#"Undefined Some("Null") Some(3)"#,
        ),
        (object, json!({ "g": {} }), "Undefined None Some(3)"),
        (
            object,
            json!({ "g": { "word": null, "inner": { "word": "y" } } }),
            r#"Null Some("Value(\"y\")") Some(3)"#,
        ),
        (default, json!({}), r#"Value("d") None Some(5)"#),
        (default, json!({ "w": null, "t": null }), "Null None None"),
    ] {
        let reply = app.query_with(query, variables.clone()).await;
        assert_eq!(reply.data()["tell"], expected, "{query} {variables}");
    }
}

/// In a filter, an absent variable does not filter and null means `IS NULL`; neither is lost
/// silently.
#[tokio::test]
async fn an_absent_condition_is_not_a_null_one() {
    let app = app().await;
    for root in ["cRows", "dRows", "tRows"] {
        let query = format!(
            "query ($w: String, $n: Int) {{ {root}(limit: $n, where: {{id: {{lte: 5}}, word: {{eq: $w}}}}) {{ id }} }}"
        );
        for (variables, expected) in [
            (json!({}), "12345"),
            (json!({ "w": null }), "5"),
            (json!({ "w": "b" }), "3"),
            (json!({ "n": 2 }), "12"),
            (json!({ "n": null }), "12345"),
        ] {
            let reply = app.query_with(&query, variables.clone()).await;
            assert_eq!(
                super::ids(&reply.data()[root]),
                expected,
                "{root} {variables}"
            );
        }
    }
}

/// Also when the operations differ in kind or in variables, and for a document of one operation.
#[tokio::test]
async fn the_operation_is_picked_by_its_name() {
    let app = app().await;
    let two = r#"query A { a: need(word: "a") } query B($w: String!) { b: need(word: $w) }"#;
    let one = r#"query A { a: need(word: "a") }"#;
    let ask = async |query: &str, name: Value| {
        app.post(&json!({ "query": query, "operationName": name }))
            .await
    };
    assert_eq!(
        ask(two, json!("A")).await.data(),
        json!({ "a": "a" }),
        "the variables of B are not asked for"
    );
    assert_eq!(ask(one, Value::Null).await.data(), json!({ "a": "a" }));
    assert_eq!(ask(one, json!("A")).await.data(), json!({ "a": "a" }));
    let given = json!({ "query": two, "operationName": "B", "variables": { "w": "x" } });
    assert_eq!(app.post(&given).await.data(), json!({ "b": "x" }));
    assert_eq!(ask(two, json!("B")).await.code(), "BAD_USER_INPUT");
    for (query, name) in [
        (two, Value::Null),
        (two, json!("C")),
        (two, json!("a")),
        (two, json!("")),
        (one, json!("B")),
    ] {
        assert_eq!(
            ask(query, name.clone()).await.code(),
            "OPERATION_RESOLUTION_FAILURE",
            "{query} {name}"
        );
    }
    assert_eq!(app.query(two).await.code(), "OPERATION_RESOLUTION_FAILURE");
    assert_eq!(ask(two, json!(1)).await.status, 400);
}
