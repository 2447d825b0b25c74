//! `/graphql` as an HTTP endpoint; the audits of graphql-http say most of it.

use serde_json::{Value, json};
use svc::GraphqlOverHttp;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, node, run_beside};

#[svc::query]
fn hello(#[svc(default = "world")] name: String) -> String {
    format!("hello {name}")
}

#[svc::mutation]
fn bump() -> i32 {
    1
}

async fn app() -> App {
    let url = TestDatabase::empty().await;

    // The audits are older than the draft of 2026.
    let config = SvcConfig {
        graphql_over_http: GraphqlOverHttp::Draft2025,
        ..SvcConfig::default()
    };
    App::serve(
        AppOptions::new()
            .config(config)
            .database_url(url)
            .queries(queries![hello])
            .mutations(mutations![bump]),
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_endpoint_passes_every_graphql_http_audit() {
    let app = app().await;
    let mut command = node("audit.mjs");
    command.arg(app.url("/graphql"));
    let output = run_beside(command).await;
    let lines = String::from_utf8(output.stdout).unwrap();
    let audits: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let failed: Vec<_> = audits
        .iter()
        .filter(|audit| audit["status"] != "ok")
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(
        audits.len(),
        61,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test]
async fn a_mutation_requires_post() {
    let app = app().await;
    let reply = app.get("/graphql?query=mutation%7Bbump%7D").await;
    assert_eq!(
        (reply.status, reply.headers["allow"].to_str().unwrap()),
        (405, "POST")
    );
    assert_eq!(
        app.query("mutation { bump }").await.data(),
        json!({ "bump": 1 })
    );
}

#[tokio::test]
async fn only_json_bodies_are_accepted() {
    let app = app().await;
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", content_type);
        let reply = app
            .send(request.body(r#"{"query":"mutation{bump}"}"#))
            .await;
        // A form of another site could have sent it.
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (403, "CSRF_PROTECTION_FAILED"),
            "{content_type}"
        );
    }
    for content_type in ["application/xml", "application/graphql", "text/plain", ""] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", content_type);
        let request = request.header("x-requested-with", "XMLHttpRequest");
        let reply = app
            .send(request.body(r#"{"query":"mutation{bump}"}"#))
            .await;
        assert_eq!(reply.status, 415, "{content_type}: {}", reply.text);
        assert_eq!(reply.code(), "BAD_REQUEST");
    }
}

#[tokio::test]
async fn malformed_requests_get_helpful_json_errors() {
    let app = app().await;
    for (body, message) in [
        ("", "the body is empty; send a JSON object with `query`"),
        ("{bad", "the body is not JSON: line 1, column 2"),
        (
            "[]",
            "batches are switched off; send one request as a JSON object",
        ),
        ("3", "the body must be a JSON object with `query`"),
        ("{}", "`query` is missing: send the GraphQL document in it"),
        (r#"{"query":3}"#, "`query` must be a string"),
        (
            r#"{"query":"{hello}","variables":[]}"#,
            "`variables` must be an object or null",
        ),
        (
            r#"{"query":"{hello}","operationName":3}"#,
            "`operationName` must be a string or null",
        ),
    ] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let reply = app.send(request.body(body)).await;
        assert_eq!((reply.status, reply.message().as_str()), (400, message));
    }
}

#[tokio::test]
async fn the_query_string_can_hold_query_variables_and_operation_name() {
    let app = app().await;
    let reply = app
        .get("/graphql?query=query%20A%7Bhello%7D%20query%20B(%24n%3AString!)%7Bhello(name%3A%24n)%7D&operationName=B&variables=%7B%22n%22%3A%22Ada%22%7D")
        .await;
    assert_eq!(reply.data(), json!({ "hello": "hello Ada" }));
    let reply = app.get("/graphql?query=%7Bhello%7D&variables=nope").await;
    assert_eq!(
        (reply.status, reply.message().as_str()),
        (400, "the parameter `variables` is not JSON")
    );
}

#[tokio::test]
async fn the_response_has_the_accepted_media_type() {
    let app = app().await;
    for (accept, content_type, status) in [
        ("application/json", "application/json; charset=utf-8", 200),
        (
            "application/graphql-response+json",
            "application/graphql-response+json; charset=utf-8",
            400,
        ),
        (
            "application/graphql-response+json;q=0.5, application/json",
            "application/json; charset=utf-8",
            200,
        ),
        (
            "application/graphql-response+json, application/json;q=0.9",
            "application/graphql-response+json; charset=utf-8",
            400,
        ),
        ("*/*", "application/json; charset=utf-8", 200),
    ] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .header("accept", accept);
        let reply = app.send(request.body(r#"{"query":"{ nope }"}"#)).await;
        assert_eq!(
            (
                reply.headers["content-type"].to_str().unwrap(),
                reply.status
            ),
            (content_type, status),
            "{accept}"
        );
        assert!(
            reply.json().get("data").is_none(),
            "nothing ran, so there is no data"
        );
    }
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("accept", "image/png");
    assert_eq!(
        app.send(request.body(r#"{"query":"{ hello }"}"#))
            .await
            .status,
        406
    );
}

#[tokio::test]
async fn operation_name_selects_the_operation() {
    let app = app().await;
    let document = "query A { a: hello } query B { b: hello }";
    let reply = app
        .post(&json!({ "query": document, "operationName": "B" }))
        .await;
    assert_eq!(reply.data(), json!({ "b": "hello world" }));
    for name in [json!(null), json!(""), json!("C")] {
        let reply = app
            .post(&json!({ "query": document, "operationName": name }))
            .await;
        assert_eq!(reply.code(), "OPERATION_RESOLUTION_FAILURE");
    }
}

#[tokio::test]
async fn other_methods_are_refused() {
    let app = app().await;
    for method in ["PUT", "DELETE", "PATCH"] {
        let reply = app.send(app.request(method, "/graphql")).await;
        assert_eq!(
            (reply.status, reply.headers["allow"].to_str().unwrap()),
            (405, "GET, POST, QUERY")
        );
    }
}
