//! Names that do not exist are told with the one that may have been meant, where the schema may be
//! known.

use svc::prelude::*;
use svc_tests::{App, TestDatabase, cpu};

#[svc_enum]
enum Colour {
    Red,
    Green,
}

#[svc_type(sql_source = "v_shelf")]
struct Shelf {
    id: i32,
    display_name: String,
    colour: Option<Colour>,
}

#[svc::query]
async fn shelves(colour: Option<Colour>) -> Vec<Shelf>;

async fn app(environment: svc::Environment) -> App {
    let url = TestDatabase::shared(
        "suggestions",
        "CREATE VIEW v_shelf AS SELECT 1 AS id, 'a' AS display_name, 'RED' AS colour",
    )
    .await;
    let config = SvcConfig {
        environment,
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .auto_camel_case(true)
        .database_url(url);
    App::serve(options.queries(queries![shelves])).await
}

#[tokio::test]
async fn a_misspelled_name_gets_a_suggestion() {
    let app = app(svc::Environment::Development).await;
    for (query, meant) in [
        ("{ shelfs { id } }", Some("shelves")),
        ("{ shelves { displayname } }", Some("displayName")),
        ("{ shelves { display_name } }", Some("displayName")),
        ("{ shelves(wher: {}) { id } }", Some("where")),
        (
            "{ shelves(where: { colr: { eq: RED } }) { id } }",
            Some("colour"),
        ),
        ("{ shelves(colour: REED) { id } }", Some("RED")),
        (
            "query ($w: ShelfWher) { shelves(where: $w) { id } }",
            Some("ShelfWhere"),
        ),
        (
            "query ($c: Color) { shelves(colour: $c) { id } }",
            Some("Colour"),
        ),
        ("{ shelves { ... on Shlf { id } } }", Some("Shelf")),
        (
            "{ shelves { ...F } } fragment F on Shelv { id }",
            Some("Shelf"),
        ),
        ("query ($w: Nothing) { shelves(where: $w) { id } }", None),
        ("{ shelves { price } }", None),
        ("{ nothing }", None),
    ] {
        let reply = app.query(query).await;
        assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
        match meant {
            Some(meant) => {
                assert!(
                    reply
                        .message()
                        .ends_with(&format!("; did you mean `{meant}`?")),
                    "{query}: {}",
                    reply.text
                );
            }
            None => assert!(
                !reply.message().contains("did you mean"),
                "{query}: {}",
                reply.text
            ),
        }
    }
}

#[tokio::test]
async fn production_errors_suggest_no_names() {
    let app = app(svc::Environment::Production).await;
    for query in [
        "{ shelfs { id } }",
        "{ shelves { displayname } }",
        "{ shelves(wher: {}) { id } }",
        "{ shelves(colour: REED) { id } }",
        "{ shelves { ... on Shlf { id } } }",
        "query ($w: ShelfWher) { shelves(where: $w) { id } }",
    ] {
        let reply = app.query(query).await;
        assert!(
            reply.code() == "GRAPHQL_VALIDATION_FAILED" && !reply.text.contains("did you mean"),
            "{}",
            reply.text
        );
    }
}

#[tokio::test]
async fn an_unknown_field_causes_no_further_error() {
    let app = app(svc::Environment::Development).await;
    for (query, errors) in [
        ("{ shelves { nam } }", 1),
        ("{ shelves { ...F } } fragment F on Shelf { nam }", 1),
        ("{ a: shelves { nam } b: shelves { mane } }", 2),
        ("{ shelves { ...F } } fragment F on Shelv { id }", 1),
        // Here nothing is selected.
        ("{ shelves }", 1),
        ("{ a: shelves { nam } b: shelves }", 2),
    ] {
        let reply = app.query(query).await.json();
        assert_eq!(
            reply["errors"].as_array().unwrap().len(),
            errors,
            "{query}: {reply}"
        );
    }
    let reply = app.query("{ shelves { nam } }").await;
    assert!(reply.message().contains("`nam`"), "{}", reply.text);
    let reply = app.query("{ shelves }").await;
    assert!(
        reply.message().contains("must have a subselection set"),
        "{}",
        reply.text
    );
}

#[tokio::test]
async fn suggestions_for_long_names_are_cheap() {
    let app = app(svc::Environment::Development).await;
    let start = cpu();
    let fields: String = (0..200)
        .map(|i| format!(" f{i}{}", "x".repeat(200)))
        .collect();
    let reply = app.query(&format!("{{ shelves {{ {fields} }} }}")).await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED");
    let took = cpu() - start;
    assert!(took < std::time::Duration::from_secs(5), "{took:?}");
}
