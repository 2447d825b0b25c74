//! Several requests in one body.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Limits, ProtectionConfig};
use svc_tests::raw::PATIENCE;
use svc_tests::{App, Reply, TestDatabase};
use tokio::sync::Barrier;

/// The entries that wait for each other.
const TOGETHER: usize = 10;

#[svc::query]
fn hello(#[svc(default = "world")] name: String) -> String {
    format!("hello {name}")
}

/// Is answered once all that wait for each other have come.
#[svc::query]
async fn together(ctx: &Context<'_>) -> Result<i32> {
    ctx.data::<Barrier>()?.wait().await;
    Ok(1)
}

async fn app(batch_max: usize) -> App {
    let url = TestDatabase::empty().await;
    let protection = ProtectionConfig {
        batch_max,
        ..ProtectionConfig::default()
    };
    let limits = Limits {
        aliases: 3,
        ..Limits::default()
    };
    let config = SvcConfig {
        protection,
        limits,
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .database_url(url)
        .queries(queries![hello, together]);
    App::serve(options.data(Barrier::new(TOGETHER))).await
}

fn refused(reply: &Reply) -> (u16, String) {
    assert_eq!(reply.code(), "BAD_REQUEST");
    (reply.status, reply.message())
}

#[tokio::test]
async fn batches_are_off_by_default_and_bounded_when_on() {
    let one = json!([{ "query": "{ hello }" }]);
    let off = app(0).await;
    let message = "batches are switched off; send one request as a JSON object";
    assert_eq!(refused(&off.post(&one).await), (400, message.to_owned()));
    let on = app(2).await;
    let message = "the batch has 3 requests; at most 2 are allowed (SVC_BATCH_MAX)";
    let three = Value::from(vec![one[0].clone(); 3]);
    assert_eq!(refused(&on.post(&three).await), (400, message.to_owned()));
    let message = "the batch is empty; send at least one request in it";
    assert_eq!(
        refused(&on.post(&json!([])).await),
        (400, message.to_owned())
    );
    assert_eq!(
        on.post(&one).await.json(),
        json!([{ "data": { "hello": "hello world" } }])
    );
}

#[tokio::test]
async fn each_entry_is_answered_limited_and_refused_by_itself() {
    let app = app(10).await;
    let aliases = "{ a: hello b: hello c: hello d: hello }";
    let reply = app
        .post(&json!([
            { "query": "query A($n: String!) { hello(name: $n) }", "variables": { "n": "Ada" } },
            { "query": aliases },
            { "query": "{ nope }" },
            { "query": 3 },
            [{ "query": "{ hello }" }],
            { "query": "query A { a: hello } query B { b: hello }", "operationName": "B" },
        ]))
        .await;
    let (status, answers) = (reply.status, reply.json());
    assert_eq!(
        (status, answers.as_array().map(Vec::len)),
        (200, Some(6)),
        "{answers:#}"
    );
    assert_eq!(answers[0], json!({ "data": { "hello": "hello Ada" } }));
    for (entry, code) in [
        (1, "QUERY_TOO_LARGE"),
        (2, "GRAPHQL_VALIDATION_FAILED"),
        (3, "BAD_REQUEST"),
        (4, "BAD_REQUEST"),
    ] {
        assert_eq!(
            answers[entry]["errors"][0]["extensions"]["code"], code,
            "{:#}",
            answers[entry]
        );
        assert!(answers[entry].get("data").is_none());
    }
    assert_eq!(answers[5], json!({ "data": { "b": "hello world" } }));
}

#[tokio::test]
async fn entries_run_concurrently() {
    let app = app(TOGETHER).await;
    let batch = Value::from(vec![json!({ "query": "{ together }" }); TOGETHER]);
    // One after the other, the first one would wait for the others for ever.
    let reply = tokio::time::timeout(PATIENCE, app.post(&batch))
        .await
        .expect("they do not run at once");
    assert_eq!(
        reply.json(),
        Value::from(vec![json!({ "data": { "together": 1 } }); TOGETHER])
    );
}
