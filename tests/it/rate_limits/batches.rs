//! Requests of a batch, each of which counts as if it had come alone.

use std::time::Duration;

use serde_json::{Value, json};
use svc::rate_limit::{RateLimit, RateLimiting};
use svc_tests::{App, Reply};

use super::service::{Clock, ask, limited, post, serve_options, wide, with_batches};

const CLIENT: &str = "192.0.2.1";

async fn serve(limiting: RateLimiting) -> App {
    serve_options(with_batches(), limiting).await
}

async fn batch(app: &App, documents: &[&str]) -> Reply {
    let entries: Vec<_> = documents
        .iter()
        .map(|document| json!({ "query": document }))
        .collect();
    post(app, "/graphql", CLIENT, &Value::from(entries)).await
}

/// The codes of the entries of an answer; "data" for entries that have passed.
fn codes(reply: &Reply) -> Vec<String> {
    let code = |entry: &Value| {
        entry["errors"][0]["extensions"]["code"]
            .as_str()
            .unwrap_or("data")
            .to_owned()
    };
    reply
        .json()
        .as_array()
        .expect("the answer of a batch")
        .iter()
        .map(code)
        .collect()
}

#[tokio::test]
async fn each_request_counts_for_the_path() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(4))).await;
    assert_eq!(codes(&batch(&app, &["{ hello }"; 3]).await), ["data"; 3]);
    let reply = batch(&app, &["{ hello }"; 3]).await;
    assert_eq!(
        (reply.status, codes(&reply).as_slice()),
        (
            200,
            ["data", "RATE_LIMITED", "RATE_LIMITED"]
                .map(String::from)
                .as_slice()
        )
    );
    let refused = &reply.json()[1]["errors"][0];
    assert_eq!(
        (
            &refused["extensions"]["limit"],
            &refused["extensions"]["window"]
        ),
        (&json!(4), &json!(60))
    );
    assert!(
        refused["extensions"]["retryAfter"]
            .as_u64()
            .is_some_and(|seconds| seconds > 0),
        "{refused}"
    );
    // Nothing is left, so the body is not read any further.
    assert_eq!(
        (
            batch(&app, &["{ hello }"; 3]).await.status,
            ask(&app, CLIENT, "{ hello }").await.status
        ),
        (429, 429)
    );
    clock.advance(Duration::from_secs(120));
    assert_eq!(codes(&batch(&app, &["{ hello }"; 4]).await), ["data"; 4]);
}

/// Requests that cannot be run, and what is not a request at all, are not free.
#[tokio::test]
async fn invalid_entries_count_for_the_path() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(5))).await;
    let entries = json!([{ "query": "{ nothing }" }, { "query": "{" }, { "query": 7 }, 7]);
    let reply = post(&app, "/graphql", CLIENT, &entries).await;
    let expected = [
        "GRAPHQL_VALIDATION_FAILED",
        "GRAPHQL_PARSE_FAILED",
        "BAD_REQUEST",
        "BAD_REQUEST",
    ];
    assert_eq!(codes(&reply), expected);
    assert_eq!(
        [
            ask(&app, CLIENT, "{ hello }").await.status,
            ask(&app, CLIENT, "{ hello }").await.status
        ],
        [200, 429]
    );
}

#[tokio::test]
async fn each_request_counts_for_its_kind_and_its_root_fields() {
    let clock = Clock::new();
    let many = RateLimit::requests(1_000);
    let app = serve(wide(&clock).kinds(many, RateLimit::requests(3), many)).await;
    let mixed = batch(
        &app,
        &["mutation { ping }", "{ hello }", "mutation { ping }"],
    )
    .await;
    assert_eq!(codes(&mixed), ["data"; 3]);
    let reply = codes(
        &batch(
            &app,
            &["mutation { ping }", "{ hello }", "mutation { ping }"],
        )
        .await,
    );
    assert_eq!(
        (
            reply.iter().filter(|code| *code == "RATE_LIMITED").count(),
            &*reply[1]
        ),
        (1, "data")
    );
    // `report` 3 in an hour.
    let reply = codes(&batch(&app, &["{ a: report b: report }"; 3]).await);
    assert_eq!(
        reply.iter().filter(|code| *code == "data").count(),
        1,
        "{reply:?}"
    );
}

#[tokio::test]
async fn each_request_of_a_batch_is_refunded_its_unused_budget() {
    let clock = Clock::new();
    let app = serve(wide(&clock).budget(RateLimit::cost(4_100).per_minute())).await;
    // Each asks for 2,001, and uses 7.
    let large = "{ items(limit: 1000) { name size } }";
    assert_eq!(codes(&batch(&app, &[large; 4]).await), ["data"; 4]);
    // This one asks for more than all.
    let reply = batch(
        &app,
        &[
            "{ a: items(limit: 3000) { name } b: items(limit: 3000) { name } }",
            "{ hello }",
        ],
    )
    .await;
    assert_eq!(codes(&reply), ["RATE_LIMITED", "data"]);
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = request
        .header("x-forwarded-for", CLIENT)
        .header("x-ratelimit-cost", "true");
    let reply = app
        .send(request.body(json!({ "query": "{ hello }" }).to_string()))
        .await;
    assert_eq!(
        reply.json()["extensions"]["rateLimit"]["remaining"],
        4_100 - 4 * 7 - 2
    );
}

/// The response states each limit as it is at its end, once.
#[tokio::test]
async fn headers_state_each_limit_once() {
    let clock = Clock::new();
    let settings = super::service::config(&[("SVC_RATE_LIMIT_STANDARD_HEADERS", "true")]);
    let app = serve(limited(&clock, RateLimit::requests(20)).config(settings)).await;
    let reply = batch(&app, &["{ hello }"; 10]).await;
    assert_eq!(reply.headers["x-ratelimit-remaining"], "10");
    let left = reply.headers["ratelimit"].to_str().unwrap();
    assert_eq!(left.matches(";r=").count(), 3, "{left}");
    assert!(left.contains("\"/graphql/*\";r=10;"), "{left}");
}
