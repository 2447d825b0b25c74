//! Fields with checks on ways without functions of the program, and in results of mutations.

use serde_json::json;
use svc::Operation;
use svc::prelude::*;

use super::super::principals::{ask_as, serve};
use super::super::service::codes;
use super::{ask, database, options};

/// Paths without functions of the program cannot run a check, so they do not serve the field.
#[tokio::test]
async fn paths_that_bypass_functions_refuse_checked_fields() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let answer = ask_as(
        &app,
        "/graphql/rust",
        "ada",
        "{ people { id email } }",
        &json!({}),
    )
    .await;
    assert_eq!(
        (codes(&answer), answer.get("data")),
        (vec!["BAD_REQUEST"], None),
        "{answer}"
    );
    assert!(
        answer["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("`Person.email`"),
        "{answer}"
    );
    let answer = ask_as(
        &app,
        "/graphql/rust",
        "ada",
        "{ people { id } }",
        &json!({}),
    )
    .await;
    assert_eq!(
        answer["data"]["people"].as_array().unwrap().len(),
        2,
        "{answer}"
    );
    let cached = Operation::new("query Cached { people { id email } }").sql("SELECT 1 AS people");
    let error = create_svc_app(options(&database).operations([cached]))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`Person.email` is checked by a function of the program"),
        "{error}"
    );
}

#[tokio::test]
async fn results_of_mutations_are_checked() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for (query, path) in [
        (
            "mutation { rename(person_id: 1) { ... on RenamedSuccess { person { id email } } } }",
            "/rename/person",
        ),
        ("mutation { plain(person_id: 1) { id email } }", "/plain"),
    ] {
        let answer = ask(&app, "ada", query).await;
        assert_eq!(
            answer["data"].pointer(path),
            Some(&json!({ "id": 1, "email": "ada@x" })),
            "{answer}"
        );
        let answer = ask(&app, "bob", query).await;
        assert_eq!(
            answer["data"].pointer(path),
            Some(&json!({ "id": 1, "email": null })),
            "{answer}"
        );
        let extensions = &answer["errors"][0]["extensions"];
        assert_eq!(
            (&extensions["code"], &extensions["mutation"]),
            (&json!("FORBIDDEN"), &json!("DONE")),
            "{answer}"
        );
    }
    for document in ["metadata", "cascade"] {
        let query = format!(
            "mutation {{ rename(person_id: 1) {{ ... on RenamedSuccess {{ status {document} }} }} }}"
        );
        let answer = ask(&app, "ada", &query).await;
        assert_eq!(
            codes(&answer),
            ["FIELD_AUTHORIZATION_ERROR"],
            "it may hold what is checked: {answer}"
        );
        assert!(!answer.to_string().contains("@x"), "{answer}");
    }
}
