//! The parts of the specification of September 2025 that are newer than those of October 2021.

use serde_json::json;
use svc::prelude::*;
use svc_tests::App;

#[svc_input]
struct Chosen {
    #[deprecated = "it is read by nobody"]
    old: Option<String>,
    new: Option<String>,
}

#[svc_input]
enum Key {
    Id(i32),
    Name(String),
}

#[svc::query]
fn chosen(
    #[deprecated = "give `chosen`"] by: Option<String>,
    chosen: Option<Chosen>,
) -> Option<String> {
    by.or_else(|| chosen.and_then(|chosen| chosen.new))
}

#[svc::query]
fn found(key: Key) -> String {
    match key {
        Key::Id(id) => id.to_string(),
        Key::Name(name) => name,
    }
}

#[svc::subscription]
fn ticks() -> impl Stream<Item = i32> {
    svc::futures_util::stream::iter([1])
}

async fn app() -> App {
    let options = AppOptions::new().database_url("postgres://nobody@127.0.0.1:1/nothing");
    App::serve(
        options
            .queries(queries![chosen, found])
            .subscriptions(subscriptions![ticks]),
    )
    .await
}

#[tokio::test]
async fn operations_fragments_and_variables_can_have_descriptions() {
    let document = r#"
        """ The one operation of this document. """
        query Named("A name, { and } so on" $name: String = "ada", """ More """ $more: String) {
            found(key: { name: $name }) ...F
        }
        "What else" fragment F on Query { chosen(by: $more) }"#;
    let refused = app()
        .await
        .query_with(document, json!({ "more": "x" }))
        .await;
    // Only the variable's nullability is wrong here.
    assert_eq!(
        refused.code(),
        "GRAPHQL_VALIDATION_FAILED",
        "{}",
        refused.text
    );
    let document = document.replace("String = \"ada\"", "String!");
    let reply = app()
        .await
        .query_with(&document, json!({ "name": "bob", "more": "x" }))
        .await;
    assert_eq!(reply.data(), json!({ "found": "bob", "chosen": "x" }));
}

#[tokio::test]
async fn inputs_can_be_deprecated() {
    let document = r#"{
        now: __type(name: "Chosen") { inputFields { name } }
        all: __type(name: "Chosen") { inputFields(includeDeprecated: true) { name isDeprecated deprecationReason } }
        query: __type(name: "Query") { fields { name args(includeDeprecated: true) { name isDeprecated deprecationReason } } }
        hidden: __type(name: "Query") { fields { args { name } } }
        __schema { directives { name isRepeatable locations args(includeDeprecated: true) { name } } } }"#;
    let data = app().await.query(document).await.data();
    assert_eq!(data["now"]["inputFields"], json!([{ "name": "new" }]));
    let old =
        json!({ "name": "old", "isDeprecated": true, "deprecationReason": "it is read by nobody" });
    assert_eq!(data["all"]["inputFields"][0], old);
    let by = json!({ "name": "by", "isDeprecated": true, "deprecationReason": "give `chosen`" });
    assert_eq!(data["query"]["fields"][0]["args"][0], by);
    assert_eq!(
        data["hidden"]["fields"][0]["args"],
        json!([{ "name": "chosen" }])
    );
    let directives = data["__schema"]["directives"].as_array().unwrap();
    let locations = |name: &str| {
        &directives
            .iter()
            .find(|known| known["name"] == name)
            .unwrap()["locations"]
    };
    for place in ["ARGUMENT_DEFINITION", "INPUT_FIELD_DEFINITION"] {
        assert!(
            locations("deprecated")
                .as_array()
                .unwrap()
                .contains(&json!(place)),
            "{place}"
        );
    }
    assert_eq!(locations("specifiedBy"), &json!(["SCALAR"]));
    assert_eq!(locations("oneOf"), &json!(["INPUT_OBJECT"]));
}

#[tokio::test]
async fn strings_support_all_unicode_escapes() {
    let reply = app()
        .await
        .query(r#"{ found(key: { name: "\u{1F600}\uD83D\uDE00\u{0041}" }) }"#)
        .await;
    assert_eq!(reply.data(), json!({ "found": "\u{1F600}\u{1F600}A" }));
    for wrong in [
        r#""\u{110000}""#,
        r#""\uD83D""#,
        r#""\u{D83D}""#,
        r#""\u{}""#,
    ] {
        let reply = app()
            .await
            .query(&format!("{{ found(key: {{ name: {wrong} }}) }}"))
            .await;
        assert_eq!(
            reply.code(),
            "GRAPHQL_PARSE_FAILED",
            "{wrong}: {}",
            reply.text
        );
    }
}

/// The event that a subscription asks for must not depend on variables.
#[tokio::test]
async fn a_subscription_root_refuses_skip_and_include() {
    let app = app().await;
    for document in [
        "subscription ($yes: Boolean!) { ticks @include(if: $yes) }",
        "subscription ($yes: Boolean!) { ticks @skip(if: $yes) }",
        "subscription ($yes: Boolean!) { ...F @include(if: $yes) } fragment F on Subscription { ticks }",
        "subscription ($yes: Boolean!) { ... on Subscription @skip(if: $yes) { ticks } }",
    ] {
        let reply = app.query_with(document, json!({ "yes": true })).await;
        assert_eq!(
            reply.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{document}: {}",
            reply.text
        );
    }
}

#[tokio::test]
async fn one_of_is_validated_in_literals_and_variables() {
    let app = app().await;
    for key in [
        "{}",
        "{ id: 1, name: \"x\" }",
        "{ id: null }",
        "{ id: 1, name: null }",
    ] {
        let reply = app.query(&format!("{{ found(key: {key}) }}")).await;
        assert_eq!(
            reply.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{key}: {}",
            reply.text
        );
        let variable = app
            .query_with(
                "query ($key: Key!) { found(key: $key) }",
                json!({ "key": { "id": null } }),
            )
            .await;
        assert_eq!(variable.code(), "BAD_USER_INPUT", "{}", variable.text);
    }
    let nullable = app
        .query_with(
            "query ($id: Int) { found(key: { id: $id }) }",
            json!({ "id": 1 }),
        )
        .await;
    assert_eq!(
        nullable.code(),
        "GRAPHQL_VALIDATION_FAILED",
        "{}",
        nullable.text
    );
}
