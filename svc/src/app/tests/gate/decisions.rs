//! The effects of a decision, on every execution path.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::schema::{CACHED, CACHED_MUTATION, Calls, VIEWS, options};
use super::{Guarded, Rule, codes};
use svc_core::{Error, ErrorCode};

/// A document for each execution path of a root field, and the field.
const PATHS: [(&str, &str); 9] = [
    ("{ notes { id } }", "notes"),
    ("{ note(id: 1) { id } }", "note"),
    ("{ page { nodes { id } } }", "page"),
    ("{ statistics { count } }", "statistics"),
    ("{ plain }", "plain"),
    ("{ slow }", "slow"),
    ("{ found { id } }", "found"),
    ("mutation { touch }", "touch"),
    (r#"mutation { rename(id: 1, owner: "eve") }"#, "rename"),
];

fn denials() -> Vec<(Rule, &'static str, &'static str)> {
    let forbidden = "FORBIDDEN";
    vec![
        (Rule::Deny, forbidden, "is not allowed"),
        (Rule::Panic, forbidden, "is not allowed"),
        (Rule::Never, forbidden, "is not allowed"),
        (
            Rule::Fail(|| Error::internal("the policy's database is away")),
            forbidden,
            "is not allowed",
        ),
        (
            Rule::Fail(|| Error::new(ErrorCode::Unauthenticated, "log in")),
            "UNAUTHENTICATED",
            "log in",
        ),
    ]
}

async fn owner_of_one(app: &Guarded) -> Value {
    app.ask("{ awaited { id owner } }").await["data"]["awaited"][0]["owner"].clone()
}

#[tokio::test]
async fn a_denial_runs_nothing() {
    for (rule, code, message) in denials() {
        let rules = PATHS
            .iter()
            .map(|(_, field)| (*field, rule.clone()))
            .collect();
        let calls = Calls::default();
        let app = Guarded::new(options(VIEWS[0]).await.data(calls.clone()), rules).await;
        for (query, field) in PATHS {
            let answer = app.ask(query).await;
            assert_eq!(codes(&answer), [code], "{query}: {answer}");
            assert!(
                answer["errors"][0]["message"]
                    .as_str()
                    .unwrap()
                    .contains(message),
                "{query}: {answer}"
            );

            assert_eq!(
                answer["errors"][0]["path"],
                json!([field]),
                "{query}: {answer}"
            );

            assert!(
                answer["errors"][0]["extensions"].get("errorId").is_none(),
                "{query}: {answer}"
            );

            assert_eq!(app.asked().len(), 1, "{query}");
        }

        let answer = app
            .post_to("/graphql/rust", json!({ "query": "{ notes { id } }" }))
            .await;
        assert_eq!(codes(&answer), [code]);
        app.asked();
        assert_eq!(
            owner_of_one(&app).await,
            "ada",
            "a mutation that is denied does nothing"
        );

        assert_eq!(
            calls.0.load(Ordering::Relaxed),
            0,
            "a function that is denied does not run"
        );
    }
}

#[tokio::test]
async fn a_denial_leaves_the_rest_of_the_answer() {
    let app = Guarded::new(options(VIEWS[0]).await, vec![("note", Rule::Deny)]).await;
    let answer = app
        .ask("{ note(id: 1) { id } found_one(id: 2) { id } }")
        .await;
    assert_eq!(
        answer["data"],
        json!({"note": null, "found_one": {"id": 2}}),
        "{answer}"
    );

    assert_eq!(codes(&answer), ["FORBIDDEN"]);
}

#[tokio::test]
async fn cached_sql_runs_only_when_all_are_admitted() {
    let app = Guarded::new(options(VIEWS[0]).await, Vec::new()).await;
    let answer = app.ask(CACHED).await;
    assert_eq!(
        answer["data"]["other"],
        json!([]),
        "its SQL answers: {answer}"
    );

    assert_eq!(app.asked().len(), 2);

    for (rule, code, _) in denials() {
        let app = Guarded::new(options(VIEWS[0]).await, vec![("notes", rule)]).await;
        let answer = app.ask(CACHED).await;
        assert_eq!(answer.get("data"), Some(&Value::Null), "{answer}");
        assert!(
            codes(&answer).iter().all(|found| *found == code),
            "{answer}"
        );
        assert_eq!(app.asked().len(), 2, "each field is decided about once");
    }
}

#[tokio::test]
async fn a_mutation_with_sql_is_denied_as_a_whole() {
    let app = Guarded::new(options(VIEWS[0]).await, vec![("rename_too", Rule::Deny)]).await;
    let answer = app.ask(CACHED_MUTATION).await;
    assert_eq!(codes(&answer), ["NOT_DONE", "FORBIDDEN"], "{answer}");
    assert_eq!(app.asked().len(), 2, "each field is decided about once");
    assert_eq!(owner_of_one(&app).await, "ada");

    let app = Guarded::new(options(VIEWS[0]).await, Vec::new()).await;
    assert_eq!(
        app.ask(CACHED_MUTATION).await,
        json!({"data": {"a": 1, "b": 2}})
    );

    assert_eq!(owner_of_one(&app).await, "eve");
}

#[tokio::test]
async fn introspection_is_gated() {
    let app = Guarded::new(options(VIEWS[0]).await, vec![("__schema", Rule::Deny)]).await;
    let answer = app.ask("{ __schema { queryType { name } } }").await;
    assert_eq!(
        (codes(&answer), &answer["data"]),
        (vec!["FORBIDDEN"], &json!({"__schema": null}))
    );
    let answer = app.ask(r#"{ __type(name: "Note") { name } }"#).await;
    assert_eq!(answer, json!({"data": {"__type": {"name": "Note"}}}));
}
