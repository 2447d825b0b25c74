//! The literals of a document are in the key of its response, as the values of variables are.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI32, Ordering};

use serde_json::value::RawValue;
use svc::prelude::*;
use svc_tests::App;

use super::service::{ask, database, options, serve};

/// The number of times that the resolvers below have run.
static RUNS: AtomicI32 = AtomicI32::new(0);

#[svc::query(cache = 600)]
fn stored(json: Box<RawValue>) -> String {
    format!("{} {json}", RUNS.fetch_add(1, Ordering::SeqCst))
}

#[svc::query(cache = 600)]
fn ratio(of: f64) -> String {
    format!("{} {of}", RUNS.fetch_add(1, Ordering::SeqCst))
}

#[svc::query(cache = 600)]
fn mine(ctx: &Context<'_>, text: String) -> String {
    let run = RUNS.fetch_add(1, Ordering::SeqCst);
    let user = ctx.user().map(|user| &*user.user_id);
    format!("{} {text} {run}", user.unwrap_or("nobody"))
}

/// The only field of a response.
async fn field(app: &App, document: &str, headers: &[(&str, &str)]) -> String {
    let data = ask(app, document, headers).await.data();
    let field = data.as_object().unwrap().values().next().unwrap();
    field.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn json_numbers_are_in_the_key_with_all_digits() {
    let database = database().await;
    let app = serve(options(&database).queries(queries![stored])).await;
    let literals = [
        "1.5",
        "1.50",
        "1.500",
        "\"1.50\"",
        "15",
        "12345678901234567890123",
        "12345678901234567890124",
        "0.12345678901234567890",
        "[1.5]",
        "[1.50]",
        "[1.500]",
    ];

    let mut first = Vec::new();
    for literal in literals {
        let found = field(&app, &format!("{{ stored(json: {literal}) }}"), &[]).await;
        assert_eq!(found.split_once(' ').unwrap().1, literal);
        first.push(found);
    }

    for _ in 0..3 {
        for (literal, first) in literals.iter().zip(&first) {
            for document in [
                format!("{{ stored(json: {literal}) }}"),
                format!("query {{\n  stored(json:{literal} )\n}}"),
            ] {
                assert_eq!(field(&app, &document, &[]).await, *first, "{document}");
            }
        }
    }
}

#[tokio::test]
async fn json_numbers_in_variables_are_in_the_key_with_all_digits() {
    let database = database().await;
    let app = serve(options(&database).queries(queries![stored])).await;
    let send = async |json: &str| {
        let document = "query ($json: JSON!) { stored(json: $json) }";
        let body = format!(r#"{{"query":"{document}","variables":{{"json":{json}}}}}"#);
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        app.send(request.body(body)).await.data()["stored"].take()
    };

    let values = ["1.5", "1.50", "\"1.50\"", "[1.50]", "{\"a\":1.50}"];
    let mut first = Vec::new();
    for value in values {
        first.push(send(value).await);
    }
    for (value, first) in values.into_iter().zip(&first) {
        let found = send(value).await;
        assert_eq!(found, *first, "{value}");
        assert!(found.as_str().unwrap().ends_with(&format!(" {value}")));
    }
}

#[tokio::test]
async fn equal_floats_share_a_response() {
    let database = database().await;
    let app = serve(options(&database).queries(queries![ratio])).await;
    let first = field(&app, "{ ratio(of: 1.5) }", &[]).await;
    for _ in 0..2 {
        assert_eq!(field(&app, "{ ratio(of: 1.50) }", &[]).await, first);
        assert_eq!(field(&app, "{ ratio(of: 15e-1) }", &[]).await, first);
        assert_ne!(field(&app, "{ ratio(of: 1.25) }", &[]).await, first);
    }
}

#[tokio::test]
async fn each_user_gets_the_responses_for_the_literals_of_the_request() {
    let database = database().await;
    let app = serve(options(&database).queries(queries![mine])).await;
    let mut found = HashSet::new();
    for _ in 0..5 {
        for (user, text) in [("ada", "a"), ("bob", "a"), ("bob", "b"), ("ada", "b")] {
            let document = format!("{{ mine(text: \"{text}\") }}");
            let answer = field(&app, &document, &[("x-user", user)]).await;
            assert!(answer.starts_with(&format!("{user} {text} ")), "{answer}");
            found.insert(answer);
        }
    }
    assert_eq!(found.len(), 4, "{found:?}");
}
