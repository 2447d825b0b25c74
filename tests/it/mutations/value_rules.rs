//! Rules on values: lengths, ranges, patterns, and no null, before anything runs.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_input]
struct Form {
    /// The name that others see.
    #[svc(length(1..=5), pattern = "^[a-zé]+$")]
    name: String,
    #[svc(range(0..150))]
    age: Option<i32>,
    #[svc(range(-0.5..=0.5))]
    slant: Option<f64>,
    #[svc(range(..=99.99))]
    price: Option<Decimal>,
    #[svc(length(..=2), pattern = "^#")]
    tags: Option<Vec<String>>,
    #[svc(not_null, length(2..))]
    nick: Patch<String>,
    #[svc(length(..=1))]
    parts: Option<Vec<Part>>,
    best: Option<Part>,
}

#[svc_input]
struct Part {
    #[svc(range(1..))]
    weight: i64,
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

#[svc::query]
fn page(
    #[svc(range(1..=10))] number: i32,
    #[svc(pattern = "^[A-Z]{2}$")] code: Option<String>,
) -> String {
    format!("{number}{}", code.unwrap_or_default())
}

#[svc::mutation]
fn count() -> bool {
    RUNS.fetch_add(1, Ordering::SeqCst);
    true
}

#[svc::mutation(function = "app.nick_of")]
async fn nick_of(form: Form) -> Option<String>;

const SQL: &str = "CREATE SCHEMA app;
CREATE FUNCTION app.nick_of(form jsonb) RETURNS text LANGUAGE sql AS $$ SELECT coalesce(form->>'nick', 'none') $$;";

fn options() -> AppOptions {
    AppOptions::new()
        .queries(queries![page])
        .mutations(mutations![count, nick_of])
}

async fn app() -> (App, TestDatabase) {
    let database = TestDatabase::new(SQL).await;
    (
        App::serve(options().database_url(database.url())).await,
        database,
    )
}

/// The message and the paths of what was refused.
#[track_caller]
fn refused(reply: &svc_tests::Reply) -> (String, Value) {
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    let json = reply.json();
    assert_eq!(json["errors"].as_array().map(Vec::len), Some(1), "{json}");
    assert!(json.get("data").is_none(), "{json}");
    let errors = json["errors"][0]["extensions"]["errors"]
        .as_array()
        .unwrap();
    (
        reply.message().to_owned(),
        errors.iter().map(|error| error["path"].clone()).collect(),
    )
}

#[tokio::test]
async fn each_rule_has_its_bounds() {
    let (app, _database) = app().await;
    for (fields, rule) in [
        (
            r#"name: "adaada""#,
            "form.name` must have a length of 1 to 5",
        ),
        (
            r#"name: "ada", age: 150"#,
            "form.age` must be at least 0 and less than 150",
        ),
        (
            r#"name: "ada", age: -1"#,
            "form.age` must be at least 0 and less than 150",
        ),
        (
            r#"name: "ada", slant: 0.51"#,
            "form.slant` must be at least -0.5 and at most 0.5",
        ),
        (
            r#"name: "ada", slant: 1e300"#,
            "form.slant` must be at least -0.5 and at most 0.5",
        ),
        (
            r#"name: "ada", price: "100""#,
            "form.price` must be at most 99.99",
        ),
        (
            r##"name: "ada", tags: ["#a", "#b", "#c"]"##,
            "form.tags` must have a length of at most 2",
        ),
        (
            r##"name: "ada", tags: ["#a", "b"]"##,
            "form.tags.1` must match `^#`",
        ),
        (
            r#"name: "ada", nick: "a""#,
            "form.nick` must have a length of at least 2",
        ),
        (
            r#"name: "ada", nick: null"#,
            "form.nick` is null; leave it out, or give a value",
        ),
        (
            r#"name: "ada", best: {weight: 0}"#,
            "form.best.weight` must be at least 1",
        ),
        (
            r#"name: "ada", parts: [{weight: 0}]"#,
            "form.parts.0.weight` must be at least 1",
        ),
    ] {
        let (message, _) = refused(
            &app.query(&format!("mutation {{ nick_of(form: {{{fields}}}) }}"))
                .await,
        );
        assert_eq!(message, format!("`nick_of.{rule}"), "{fields}");
    }
    for (fields, nick) in [
        (
            r##"name: "ééééé", age: 0, slant: -0.5, price: "99.99", tags: ["#a", "#b"], nick: "ab""##,
            "ab",
        ),
        (
            r#"name: "a", age: 149, slant: 0.5, tags: [], parts: [{weight: 1}]"#,
            "none",
        ),
        (r#"name: "a", age: null, tags: null, best: null"#, "none"),
    ] {
        let reply = app
            .query(&format!("mutation {{ nick_of(form: {{{fields}}}) }}"))
            .await;
        assert_eq!(reply.data()["nick_of"], nick, "{fields}");
    }
}

/// One error lists them all, for literals and variables alike, and nothing has run.
#[tokio::test]
async fn one_error_lists_all_values() {
    let (app, _database) = app().await;
    let paths = json!([
        ["again", "form", "name"],
        ["again", "form", "age"],
        ["again", "form", "parts"],
        ["again", "form", "parts", 1, "weight"]
    ]);
    let form = json!({ "name": "A", "age": 200, "parts": [{ "weight": 1 }, { "weight": 0 }] });
    let literal = r#"mutation { count again: nick_of(form: {name: "A", age: 200, parts: [{weight: 1}, {weight: 0}]}) }"#;
    let whole = "mutation ($form: Form!) { count again: nick_of(form: $form) }";
    let part = r#"mutation ($age: Int) { count again: nick_of(form: {name: "A", age: $age, parts: [{weight: 1}, {weight: 0}]}) }"#;
    for (query, variables) in [
        (literal, json!({})),
        (whole, json!({ "form": form })),
        (part, json!({ "age": 200 })),
    ] {
        let (message, found) = refused(&app.query_with(query, variables).await);
        assert_eq!(found, paths, "{query}");
        assert_eq!(message.matches("; ").count(), 3, "{message}");
    }
    assert_eq!(RUNS.load(Ordering::SeqCst), 0, "a root field has run");
}

#[tokio::test]
async fn arguments_have_rules() {
    let (app, _database) = app().await;
    let (message, paths) = refused(&app.query(r#"{ page(number: 11, code: "ab") }"#).await);
    assert_eq!(paths, json!([["page", "number"], ["page", "code"]]));
    assert_eq!(
        message,
        "`page.number` must be at least 1 and at most 10; \
         `page.code` must match `^[A-Z]{2}$`"
    );
    assert_eq!(
        app.query(r#"{ page(number: 10, code: "AB") }"#)
            .await
            .data()["page"],
        "10AB"
    );
    assert_eq!(
        app.query("{ page(number: 1, code: null) }").await.data()["page"],
        "1"
    );
    // A field that is not asked for is not looked at.
    let query = "query ($yes: Boolean!) { __typename page(number: 11) @include(if: $yes) }";
    assert_eq!(
        app.query_with(query, json!({ "yes": false })).await.data()["__typename"],
        "Query"
    );
}

#[test]
fn the_schema_describes_the_value_rules() {
    let sdl = options().sdl().unwrap();
    for part in [
        "The name that others see.",
        "A value has a length of 1 to 5.",
        "A value matches `^[a-zé]+$`.",
        "A value is at least 0 and less than 150.",
        "A value may be left out, but not null.",
        "A value is at least 1 and at most 10.",
    ] {
        assert!(sdl.contains(part), "no {part} in {sdl}");
    }
}
