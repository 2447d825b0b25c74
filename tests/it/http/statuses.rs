//! The statuses of both drafts of GraphQL over HTTP.

use serde_json::{Value, json};
use svc::futures_util::stream;
use svc::prelude::*;
use svc::{GraphqlOverHttp, HttpConfig, Limits, OperationsConfig, ProtectionConfig};
use svc_tests::raw::{self, Client};
use svc_tests::{App, Reply, node, run_beside};

#[svc::query]
fn hello() -> &'static str {
    "world"
}

#[svc::query]
fn broken() -> Result<Option<i32>> {
    Err(Error::new(ErrorCode::NotFound, "there is none"))
}

#[svc::query]
fn required() -> Result<i32> {
    Err(Error::new(ErrorCode::NotFound, "there is none"))
}

#[svc::mutation]
fn bump() -> i32 {
    1
}

#[svc::subscription]
fn ticks() -> impl Stream<Item = i32> {
    stream::iter(1..=3)
}

const JSON: &str = "application/json";
const RESPONSE: &str = "application/graphql-response+json";
/// The audits of the draft of 2026, with those of `QUERY` and of mutations.
const AUDITS: usize = 68;
const DRAFTS: [GraphqlOverHttp; 2] = [GraphqlOverHttp::Draft2025, GraphqlOverHttp::Draft2026];

/// The settings of a draft, with at most three root fields and two requests in a batch.
fn config(draft: GraphqlOverHttp) -> SvcConfig {
    SvcConfig {
        graphql_over_http: draft,
        limits: Limits {
            root_fields: 3,
            ..Limits::default()
        },
        protection: ProtectionConfig {
            batch_max: 2,
            ..ProtectionConfig::default()
        },
        ..SvcConfig::default()
    }
}

fn options(config: SvcConfig) -> AppOptions {
    AppOptions::new()
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![hello, broken, required])
        .mutations(mutations![bump])
        .subscriptions(subscriptions![ticks])
}

/// Sends text as the body, or as the query string of a GET.
async fn send(app: &App, method: &str, accept: &str, text: &str) -> Reply {
    if method == "GET" {
        let path = format!("/graphql?{text}");
        return app
            .send(app.request(method, &path).header("accept", accept))
            .await;
    }
    let request = app
        .request(method, "/graphql")
        .header("accept", accept)
        .header("content-type", JSON);
    app.send(request.body(text.to_owned())).await
}

/// A request as its method sends it.
fn encoded(method: &str, request: &Value) -> String {
    if method != "GET" {
        return request.to_string();
    }
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in request.as_object().unwrap() {
        match value {
            Value::String(text) => query.append_pair(name, text),
            other => query.append_pair(name, &other.to_string()),
        };
    }
    query.finish()
}

/// Requests with their statuses: of `application/json`, and of the other type in both drafts.
fn requests() -> Vec<(Value, [u16; 3])> {
    let two = "query A { hello } query B { hello }";
    let flag = "query ($on: Boolean!) { hello @include(if: $on) }";
    let many = "{ a: hello b: hello c: hello d: hello }";
    let unknown = json!({ "persistedQuery": { "version": 1, "sha256Hash": "0".repeat(64) } });
    vec![
        (json!({ "query": "{ hello }" }), [200, 200, 200]),
        (
            json!({ "query": "{ hello }", "other": "x" }),
            [200, 200, 200],
        ),
        // Data with errors, and null with errors.
        (json!({ "query": "{ hello broken }" }), [200, 200, 294]),
        (json!({ "query": "{ required }" }), [200, 200, 294]),
        // The document.
        (json!({ "query": "{" }), [200, 400, 400]),
        (json!({ "query": "{ nothing }" }), [200, 400, 422]),
        (json!({ "query": many }), [200, 400, 422]),
        (
            json!({ "query": "subscription { ticks }" }),
            [200, 400, 422],
        ),
        (json!({ "extensions": unknown }), [200, 400, 422]),
        // The operation and its variables.
        (json!({ "query": two }), [200, 400, 422]),
        (
            json!({ "query": two, "operationName": "C" }),
            [200, 400, 422],
        ),
        (json!({ "query": flag }), [200, 400, 422]),
        (
            json!({ "query": flag, "variables": { "on": "x" } }),
            [200, 400, 422],
        ),
        // JSON that is not a request.
        (json!({ "qeury": "{ hello }" }), [400, 400, 422]),
        (
            json!({ "query": "{ hello }", "variables": [7] }),
            [400, 400, 422],
        ),
        (
            json!({ "query": "{ hello }", "documentId": "x" }),
            [400, 400, 422],
        ),
        (
            json!({ "extensions": { "persistedQuery": { "version": 2 } } }),
            [400, 400, 422],
        ),
    ]
}

fn all_requests() -> impl Iterator<Item = (Value, [u16; 3])> {
    requests().into_iter().chain(requests_on_error())
}

/// Requests with a behavior on errors, with their statuses.
fn requests_on_error() -> Vec<(Value, [u16; 3])> {
    let on_error = |query, behavior| json!({ "query": query, "onError": behavior });
    vec![
        (on_error("{ hello required }", "NULL"), [200, 200, 294]),
        (on_error("{ hello broken }", "HALT"), [200, 200, 294]),
        (on_error("{ hello }", "HALT"), [200, 200, 200]),
        (on_error("{ hello }", "STOP"), [400, 400, 422]),
    ]
}

/// Bodies with their statuses.
const BODIES: [(&str, [u16; 3]); 9] = [
    ("NONSENSE", [400, 400, 400]),
    (r#"{"query":"#, [400, 400, 400]),
    ("", [400, 400, 400]),
    ("3", [400, 400, 422]),
    ("[]", [400, 400, 422]),
    ("[1, 2, 3]", [400, 400, 422]),
    (r#"{"query":3}"#, [400, 400, 422]),
    (
        r#"{"query":"{ hello }","operationName":3}"#,
        [400, 400, 422],
    ),
    (r#"{"query":"{ hello }","variables":"{}"}"#, [400, 400, 422]),
];

/// Query strings with their statuses.
const QUERY_STRINGS: [(&str, [u16; 3]); 4] = [
    ("", [400, 400, 422]),
    ("query=%7Bhello%7D&variables=nope", [400, 400, 400]),
    ("query=%7Bhello%7D&variables=7", [400, 400, 422]),
    ("query=%7Bhello%7D&query=%7Bhello%7D", [400, 400, 422]),
];

#[tokio::test]
async fn each_outcome_has_its_status_by_every_method() {
    for (index, draft) in DRAFTS.into_iter().enumerate() {
        let app = App::serve(options(config(draft))).await;
        for (accept, column) in [(JSON, 0), (RESPONSE, index + 1)] {
            let of_bodies = |method: &'static str| {
                let requests = all_requests()
                    .map(move |(request, statuses)| (encoded(method, &request), statuses));
                requests.chain(BODIES.map(|(body, statuses)| (body.to_owned(), statuses)))
            };
            let of_urls = all_requests()
                .map(|(request, statuses)| (encoded("GET", &request), statuses))
                .chain(QUERY_STRINGS.map(|(query, statuses)| (query.to_owned(), statuses)));
            let sent = of_bodies("POST")
                .map(|sent| ("POST", sent))
                .chain(of_bodies("QUERY").map(|sent| ("QUERY", sent)))
                .chain(of_urls.map(|sent| ("GET", sent)));
            for (method, (text, statuses)) in sent {
                let reply = send(&app, method, accept, &text).await;
                let about = format!("{draft} {method} {accept} {text}: {}", reply.text);
                assert_eq!(reply.status, statuses[column], "{about}");
                let media = reply.headers["content-type"].to_str().unwrap();
                assert_eq!(media, format!("{accept}; charset=utf-8"), "{about}");
                let is_executed = statuses[1] == 200;
                assert_eq!(reply.json().get("data").is_some(), is_executed, "{about}");
                assert!(!reply.headers.contains_key("allow"), "{about}");
            }
        }
    }
}

#[tokio::test]
async fn only_post_runs_mutations() {
    let mutation = json!({ "query": "mutation { bump }" });
    for draft in DRAFTS {
        let app = App::serve(options(config(draft))).await;
        for accept in [JSON, RESPONSE] {
            for (method, status, allow) in [
                ("POST", 200, None),
                ("GET", 405, Some("POST")),
                ("QUERY", 422, None),
            ] {
                let reply = send(&app, method, accept, &encoded(method, &mutation)).await;
                let allowed = reply
                    .headers
                    .get("allow")
                    .map(|value| value.to_str().unwrap());
                assert_eq!((reply.status, allowed), (status, allow), "{method}");
                assert_eq!(
                    reply.json().get("data").is_some(),
                    status == 200,
                    "{method}"
                );
            }
        }
    }
}

#[tokio::test]
async fn the_responses_of_a_batch_have_one_status() {
    let batch = r#"[{"query":"{ broken }"},{"query":"{ nothing }"}]"#;
    for draft in DRAFTS {
        let app = App::serve(options(config(draft))).await;
        for method in ["POST", "QUERY"] {
            let reply = send(&app, method, RESPONSE, batch).await;
            assert_eq!(reply.status, 200, "{method}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn a_document_that_is_not_registered_is_forbidden_in_the_draft_of_2026() {
    for (draft, status) in DRAFTS.into_iter().zip([400, 403]) {
        let operations = OperationsConfig {
            registered_only: true,
            ..OperationsConfig::default()
        };
        let config = SvcConfig {
            operations,
            ..config(draft)
        };
        let app = App::serve(options(config)).await;
        let text = json!({ "query": "{ hello }" }).to_string();
        let reply = send(&app, "POST", RESPONSE, &text).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, "FORBIDDEN"));
        assert_eq!(send(&app, "POST", JSON, &text).await.status, 200);
    }
}

/// The status has no reason phrase in HTTP.
#[tokio::test]
async fn partial_success_has_its_reason_phrase() {
    let router = create_svc_app(options(config(GraphqlOverHttp::Draft2026)))
        .await
        .unwrap();
    let address = raw::serve(HttpConfig::default(), router).await;
    let mut client = Client::open(address).await;
    let accept = format!("host: x\r\naccept: {RESPONSE}");
    let request = raw::post(r#"{"query":"{ broken }"}"#).replace("host: x", &accept);
    client.send(&request).await;
    let answer = client.answer().await;
    assert!(
        answer.starts_with("HTTP/1.1 294 Partial Success\r\n"),
        "{answer}"
    );
}

#[test]
fn the_setting_names_a_draft() {
    let read = |value: &'static str| {
        SvcConfig::from_variables(move |name| {
            (name == "SVC_GRAPHQL_OVER_HTTP").then(|| value.to_owned())
        })
    };
    for draft in DRAFTS {
        let value = if draft == GraphqlOverHttp::Draft2026 {
            "2026"
        } else {
            "2025"
        };
        assert_eq!(read(value).unwrap().graphql_over_http, draft);
        assert_eq!(draft.to_string(), value);
    }
    assert_eq!(
        SvcConfig::default().graphql_over_http,
        GraphqlOverHttp::default()
    );
    assert_eq!(
        read("2024").unwrap_err().to_string(),
        "SVC_GRAPHQL_OVER_HTTP is \"2024\"; it must be 2025 or 2026"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_endpoint_passes_every_audit_of_2026() {
    let app = App::serve(options(config(GraphqlOverHttp::Draft2026))).await;
    let mut command = node("audit_2026.mjs");
    command.arg(app.url("/graphql")).arg("{ hello broken }");
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
        AUDITS,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
