//! The authorizer of the application decides about every root field, on every path.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use svc::authz::{Authorizer, OperationType};
use svc::prelude::*;
use svc_tests::App;

use super::service::{CACHED, ask_rust, codes, database, options};

/// A document for each path, and its root field.
const PATHS: [(&str, &str); 6] = [
    ("{ notes { id } }", "notes"),
    ("{ note(id: 1) { id } }", "note"),
    ("{ statistics { count } }", "statistics"),
    ("{ hello }", "hello"),
    (CACHED, "notes"),
    (
        r#"mutation { rename(noteId: 1, title: "changed") }"#,
        "rename",
    ),
];

#[tokio::test]
async fn a_denial_has_its_code_and_sends_no_sql() {
    let database = database().await;
    let denies = async |_: AuthorizationRequest| {
        AuthorizationDecision::deny_with("CLOSED", "closed on Sundays")
    };
    let app = App::serve(options(&database).authorizer(denies)).await;
    for (query, field) in PATHS {
        let reply = app.query(query).await;
        assert_eq!(
            (reply.code().as_str(), reply.message().as_str()),
            ("CLOSED", "closed on Sundays"),
            "{query}"
        );
        assert_eq!(reply.json()["errors"][0]["path"], json!([field]), "{query}");
    }
    assert_eq!(codes(&ask_rust(&app, "{ notes { id } }").await), ["CLOSED"]);
    assert_eq!(
        database.statements("v_note").await + database.statements("rename").await,
        0
    );
}

#[tokio::test]
async fn a_denial_without_a_code_is_forbidden() {
    let database = database().await;
    let app =
        App::serve(options(&database).authorizer(async |_: AuthorizationRequest| false)).await;
    for (query, field) in PATHS {
        let reply = app.query(query).await;
        assert_eq!(
            (reply.code(), reply.message()),
            ("FORBIDDEN".into(), format!("`{field}` is not allowed"))
        );
    }
}

/// An authorizer with what it was asked about.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Authorizer for Asked {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        let (kind, name) = (request.operation_type(), request.operation_name());
        let agent = request
            .context()
            .header("x-agent")
            .unwrap_or("-")
            .to_owned();
        let title = request.argument::<Option<String>>("title")?;
        let id = request.argument::<Option<i32>>("note_id")?;
        self.0
            .lock()
            .unwrap()
            .push(format!("{kind} {name} {agent} {id:?} {title:?}"));
        Ok(true.into())
    }
}

#[tokio::test]
async fn an_authorizer_gets_arguments_under_their_rust_names() {
    let database = database().await;
    let asked = Asked::default();
    let app = App::serve(options(&database).authorizer(asked.clone())).await;
    let query = "mutation ($id: Int!) { a: rename(noteId: $id, title: \"x\") b: rename(noteId: 9, title: \"y\") }";
    let body = json!({ "query": query, "variables": { "id": 2 } }).to_string();
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-agent", "ada");
    assert_eq!(
        app.send(request.body(body)).await.data(),
        json!({ "a": 2, "b": null })
    );
    assert_eq!(
        *asked.0.lock().unwrap(),
        [
            r#"mutation rename ada Some(2) Some("x")"#,
            r#"mutation rename ada Some(9) Some("y")"#
        ]
    );
}

/// Documents that differ in literals share a plan; decisions are about the literals of each request.
#[tokio::test]
async fn an_authorizer_gets_the_literals_of_each_request() {
    let database = database().await;
    let asked = Asked::default();
    let app = App::serve(options(&database).authorizer(asked.clone())).await;
    let mut expected = Vec::new();
    for _ in 0..4 {
        for (id, title) in [(1, "x"), (2, "x"), (2, "longer"), (9, "")] {
            let query = format!("mutation {{ rename(noteId: {id}, title: \"{title}\") }}");
            app.query(&query).await.data();
            expected.push(format!("mutation rename - Some({id}) Some({title:?})"));
        }
    }
    assert_eq!(*asked.0.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_cached_plan_allows_no_literals_that_are_denied() {
    let database = database().await;
    let policy =
        async |request: AuthorizationRequest| request.argument::<i32>("id").is_ok_and(|id| id == 1);
    let app = App::serve(options(&database).authorizer(policy)).await;
    for _ in 0..4 {
        let allowed = app.query("{ note(id: 1) { title } }").await;
        assert_eq!(allowed.data(), json!({ "note": { "title": "one" } }));
        let denied = app.query("{ note(id: 2) { title } }").await;
        assert_eq!(denied.code(), "FORBIDDEN", "{}", denied.text);
        assert_eq!(denied.json()["data"], json!({ "note": null }));
    }
}

/// Each root field has a decision of its own.
#[tokio::test]
async fn a_denied_field_leaves_the_other_fields_intact() {
    let database = database().await;
    let policy = async |request: AuthorizationRequest| {
        request.operation_name() != "note" || request.argument::<i32>("id").is_ok_and(|id| id == 1)
    };
    let app = App::serve(options(&database).authorizer(policy)).await;
    let answer = app
        .query("{ a: note(id: 1) { title } b: note(id: 2) { id } hello }")
        .await
        .json();
    assert_eq!(
        answer["data"],
        json!({ "a": { "title": "one" }, "b": null, "hello": "world" })
    );
    assert_eq!(
        (codes(&answer), &answer["errors"][0]["path"]),
        (vec!["FORBIDDEN"], &json!(["b"]))
    );
}

async fn fails(request: AuthorizationRequest) -> Result<bool> {
    match request.context().header("x-way") {
        Some("raise") => Err("the policy's secret is 42"
            .parse::<i32>()
            .unwrap_err()
            .into()),
        Some("own") => {
            Err(Error::with_code("PAY_FIRST", "the trial is over").with_extension("plan", "trial"))
        }
        Some("panic") => panic!("the policy's secret is 42"),
        Some("late") => std::future::pending().await,
        _ => Ok(request.operation_type() == OperationType::Query),
    }
}

#[tokio::test]
async fn a_failing_authorizer_denies_and_hides_the_reason() {
    let database = database().await;
    let options = options(&database)
        .authorizer(fails)
        .authorization_timeout(Duration::from_millis(100));
    let app = App::serve(options).await;
    for (query, _) in PATHS {
        for (way, code) in [
            ("raise", "FORBIDDEN"),
            ("own", "PAY_FIRST"),
            ("panic", "FORBIDDEN"),
            ("late", "FORBIDDEN"),
        ] {
            let request = app
                .request("POST", "/graphql")
                .header("content-type", "application/json");
            let reply = app
                .send(
                    request
                        .header("x-way", way)
                        .body(json!({ "query": query }).to_string()),
                )
                .await;
            assert_eq!(reply.code(), code, "{way} {query}");
            assert!(
                !reply.text.contains("42") && !reply.text.contains("secret"),
                "{}",
                reply.text
            );
            let plan = &reply.json()["errors"][0]["extensions"]["plan"];
            assert_eq!(plan == "trial", way == "own", "{}", reply.text);
        }
    }
    assert_eq!(
        database.statements("v_note").await + database.statements("rename").await,
        0
    );
}
