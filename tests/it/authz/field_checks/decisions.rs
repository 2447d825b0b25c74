//! The decisions of several checks, of an authorizer, and of checks that fail.

use std::time::Duration;

use serde_json::{Value, json};
use svc::prelude::*;

use super::super::principals::serve;
use super::super::service::codes;
use super::{Ran, ask, database, options};

#[tokio::test]
async fn all_checks_of_a_field_must_allow() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for (user, pay, errors) in [
        ("", json!([null, null]), vec!["UNAUTHENTICATED"; 2]),
        ("ada", json!([null, null]), vec!["FORBIDDEN"; 2]),
        ("ada;;pay:read", json!([10, null]), vec!["FORBIDDEN"]),
        ("eve;;pay:write", json!([null, null]), vec!["FORBIDDEN"; 2]),
    ] {
        let answer = ask(&app, user, "{ people(order_by: [{ id: ASC }]) { salary } }").await;
        let given: Vec<_> = (0..2)
            .map(|index| answer["data"]["people"][index]["salary"].clone())
            .collect();
        assert_eq!(
            (Value::from(given), codes(&answer)),
            (pay, errors),
            "{user}: {answer}"
        );
    }
    let answer = ask(&app, "ada", "{ person(id: 1) { salary } }").await;
    let required = json!(["pay:read", "pay:write"]);
    assert_eq!(
        answer["errors"][0]["extensions"]["required_permissions"], required,
        "{answer}"
    );
}

#[tokio::test]
async fn an_authorizer_can_be_a_field_check() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let query = "{ person(id: 1) { phone } }";
    assert_eq!(codes(&ask(&app, "ada", query).await), ["FORBIDDEN"]);
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-inside", "1");
    let answer = app
        .send(request.body(json!({ "query": query }).to_string()))
        .await
        .json();
    assert_eq!(answer, json!({ "data": { "person": { "phone": "111" } } }));
}

#[tokio::test]
async fn a_failing_check_denies_and_hides_the_reason() {
    let database = database().await;
    let app = serve(options(&database).authorization_timeout(Duration::from_millis(100))).await;
    for (way, code) in [
        ("raise", "FIELD_AUTHORIZATION_ERROR"),
        ("panic", "FIELD_AUTHORIZATION_ERROR"),
        ("late", "FIELD_AUTHORIZATION_ERROR"),
        ("own", "PAY_FIRST"),
        ("no", "FORBIDDEN"),
    ] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .header("x-way", way);
        let body = json!({ "query": "{ person(id: 1) { id mood } }" }).to_string();
        let reply = app.send(request.body(body)).await;
        assert_eq!(
            reply.json()["data"],
            json!({ "person": { "id": 1, "mood": null } }),
            "{way}: {}",
            reply.text
        );
        assert_eq!(
            (reply.code().as_str(), reply.text.contains("42")),
            (code, false),
            "{way}: {}",
            reply.text
        );
        assert_eq!(
            reply.json()["errors"][0]["extensions"]["plan"] == "trial",
            way == "own",
            "{}",
            reply.text
        );
    }
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-way", "allow");
    let reply = app
        .send(request.body(json!({ "query": "{ person(id: 1) { mood } }" }).to_string()))
        .await;
    assert_eq!(reply.data(), json!({ "person": { "mood": "good" } }));
}

/// The authorizer decides before anything runs, the checks after it.
#[tokio::test]
async fn both_the_authorizer_and_the_checks_must_allow() {
    #[svc_type(sql_source = "v_person", name = "Person", authorize_fields = ["email"])]
    struct Both {
        #[svc::authorize_field(is_ada)]
        email: Option<String>,
        name: String,
    }
    async fn is_ada(both: &Both, request: AuthorizationRequest) -> Result<bool> {
        request
            .context()
            .data::<Ran>()?
            .0
            .lock()
            .unwrap()
            .push(both.name.clone());
        Ok(both.name == "ada")
    }
    #[svc::query(name = "people")]
    async fn both() -> Vec<Both>;

    let database = database().await;
    let ran = Ran::default();
    let policy = async |request: AuthorizationRequest| {
        request.operation_name() != "Person.email" || request.context().header("x-user").is_some()
    };
    let options = AppOptions::new()
        .database_url(database.url())
        .data(ran.clone())
        .queries(queries![both]);
    let app = serve(options.authorizer(policy)).await;
    let answer = ask(&app, "", "{ people { name email } }").await;
    assert_eq!(
        (codes(&answer).len(), ran.0.lock().unwrap().len()),
        (2, 0),
        "{answer}"
    );
    let answer = ask(&app, "x", "{ people { name email } }").await;
    assert_eq!(
        (codes(&answer).len(), ran.0.lock().unwrap().len()),
        (1, 2),
        "{answer}"
    );
    assert_eq!(
        codes(
            &ask(
                &app,
                "",
                "{ people(where: { name: { eq: \"ada\" } }) { name } }"
            )
            .await
        )
        .len(),
        0
    );
}
