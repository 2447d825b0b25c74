//! A panic of the program's code is an answer, wherever it happens, and the connection goes on.

use serde_json::{Value, json};
use svc::async_graphql::{InputValueError, InputValueResult, ScalarType, Value as Const};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::{Operation, svc_scalar};
use svc_tests::{App, Reply, TestDatabase};

/// A scalar whose code has mistakes.
struct Fuse(String);

#[svc_scalar]
impl ScalarType for Fuse {
    fn parse(value: Const) -> InputValueResult<Self> {
        match value {
            Const::String(text) if text == "boom" => panic!("a short circuit"),
            Const::String(text) => Ok(Self(text)),
            other => Err(InputValueError::expected_type(other)),
        }
    }
    fn to_value(&self) -> Const {
        assert_ne!(self.0, "late", "a late circuit");
        Const::from(self.0.as_str())
    }
}

#[svc_type(sql_source = "v_lamp")]
struct Lamp {
    id: i32,
    fuse: Option<Fuse>,
}

#[svc_input]
struct LampInput {
    fuse: Fuse,
}

#[svc::query]
async fn lamps() -> Vec<Lamp>;
#[svc::query]
async fn lamp() -> Option<Lamp>;
#[svc::query]
fn echo(fuse: Fuse) -> Fuse {
    fuse
}
#[svc::query]
fn several(lamps: Vec<LampInput>) -> i32 {
    i32::try_from(lamps.iter().filter(|lamp| !lamp.fuse.0.is_empty()).count()).unwrap()
}
#[svc::mutation(function = "fn_light", context = ["who"])]
async fn light(fuse: Fuse) -> String;
#[svc::mutation]
fn spark(fuse: Fuse) -> bool {
    assert_ne!(fuse.0, "body", "in the body");
    true
}

const SQL: &str = "
CREATE VIEW v_lamp AS SELECT 1 AS id, 'boom' AS fuse UNION ALL SELECT 2, 'late' UNION ALL SELECT 3, 'good';
CREATE FUNCTION fn_light(who text, fuse text) RETURNS text LANGUAGE sql AS 'SELECT fuse';";

async fn app() -> App {
    let url = TestDatabase::shared("panics", SQL).await;
    let cached = "query Cached($fuse: Fuse!) { echo(fuse: $fuse) }";
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            rust_endpoint: true,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .database_url(url)
        .queries(queries![lamps, lamp, echo, several])
        .mutations(mutations![light, spark])
        .operations([Operation::new(cached).sql("SELECT to_jsonb($1::text) AS echo")])
        .session_variables(SessionVariables::new().with("app.who", |ctx| {
            assert_ne!(
                ctx.header("x-who"),
                Some("session"),
                "in a session variable"
            );
            None
        }))
        .context_value("who", |ctx| {
            assert_ne!(ctx.header("x-who"), Some("context"), "in a context value");
            Ok(None)
        });
    App::serve(options).await
}

fn is_masked(reply: &Reply) {
    assert_eq!(reply.message(), "internal server error", "{}", reply.text);
    assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR");
    assert!(
        reply.json()["errors"][0]["extensions"]["errorId"].is_string(),
        "{}",
        reply.text
    );
    assert!(
        !reply.text.contains("circuit") && !reply.text.contains("in a"),
        "{}",
        reply.text
    );
}

async fn still_answers(app: &App) {
    assert_eq!(
        app.query(r#"{ echo(fuse: "good") }"#).await.data(),
        json!({ "echo": "good" })
    );
}

#[tokio::test]
async fn a_panicking_scalar_in_a_request_is_a_masked_error() {
    let app = app().await;
    let by_variable = "query ($f: Fuse!) { echo(fuse: $f) }";
    let boom = json!({ "f": "boom" });
    for (path, body) in [
        (
            "/graphql",
            json!({ "query": by_variable, "variables": boom }),
        ),
        ("/graphql", json!({ "query": r#"{ echo(fuse: "boom") }"# })),
        (
            "/graphql",
            json!({ "query": r#"query ($f: Fuse = "boom") { echo(fuse: $f) }"# }),
        ),
        (
            "/graphql",
            json!({ "query": "query ($l: [LampInput!]!) { several(lamps: $l) }", "variables": { "l": [{ "fuse": "boom" }] } }),
        ),
        (
            "/graphql",
            json!({ "query": r#"{ several(lamps: [{fuse: "boom"}]) }"# }),
        ),
        ("/graphql", json!({ "query": r#"{ echo(fuse: "late") }"# })),
        (
            "/graphql",
            json!({ "query": "query ($f: Fuse!) { lamps(where: {fuse: {eq: $f}}) { id } }", "variables": boom }),
        ),
        (
            "/graphql/rust",
            json!({ "query": "query ($f: Fuse!) { lamps(where: {fuse: {eq: $f}}) { id } }", "variables": boom }),
        ),
        (
            "/graphql",
            json!({ "documentId": "Cached", "variables": { "fuse": "boom" } }),
        ),
        (
            "/graphql",
            json!({ "query": r#"mutation { spark(fuse: "boom") }"# }),
        ),
        (
            "/graphql",
            json!({ "query": "mutation ($f: Fuse!) { light(fuse: $f) }", "variables": boom }),
        ),
    ] {
        // Twice: what was begun for the first must not stand in the way of the second.
        for _ in 0..2 {
            let request = app
                .request("POST", path)
                .header("content-type", "application/json");
            is_masked(&app.send(request.body(body.to_string())).await);
            still_answers(&app).await;
        }
    }
}

#[tokio::test]
async fn a_panic_in_a_get_has_the_accepted_media_type() {
    let app = app().await;
    let path = "/graphql?query=query($f:Fuse!){echo(fuse:$f)}&variables=%7B%22f%22:%22boom%22%7D";
    for accept in ["application/json", "application/graphql-response+json"] {
        let request = app.request("GET", path).header("accept", accept);
        let reply = app.send(request).await;
        is_masked(&reply);
        assert_eq!(reply.status, 500);
        assert!(
            reply.headers["content-type"]
                .to_str()
                .unwrap()
                .starts_with(accept),
            "{:?}",
            reply.headers
        );
        still_answers(&app).await;
    }
}

#[tokio::test]
async fn a_panic_while_a_field_runs_fails_that_field() {
    let app = app().await;
    for query in [
        "{ lamps { id fuse } echo(fuse: \"good\") }",
        "{ lamps(where: {id: {eq: 2}}) { id fuse } echo(fuse: \"good\") }",
    ] {
        let reply = app.query(query).await;
        is_masked(&reply);
        assert_eq!(reply.status, 200);
        assert_eq!(reply.json()["data"], Value::Null);
        still_answers(&app).await;
    }
    let reply = app.query("{ lamp { id fuse } echo(fuse: \"good\") }").await;
    is_masked(&reply);
    assert_eq!(
        reply.json()["data"],
        json!({ "lamp": null, "echo": "good" })
    );
    is_masked(&app.query(r#"mutation { spark(fuse: "body") }"#).await);
    still_answers(&app).await;
}

#[tokio::test]
async fn a_panic_over_request_headers_is_a_masked_error() {
    let app = app().await;
    for (who, query) in [
        ("context", r#"mutation { light(fuse: "good") }"#),
        (
            "session",
            "{ lamps(limit: 1, where: {id: {eq: 3}}) { id } }",
        ),
    ] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .header("x-who", who);
        is_masked(
            &app.send(request.body(json!({ "query": query }).to_string()))
                .await,
        );
        still_answers(&app).await;
    }
}
