//! Subscriptions with a body.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use svc::futures_util::stream::{self, BoxStream};
use svc::futures_util::{StreamExt as _, TryStreamExt as _};
use svc::prelude::*;
use svc::testing::{Subscription, TestService};
use svc_tests::eventually;

use super::service::{answers, refused, service};

#[svc_type]
struct Tick {
    number: i32,
}

#[svc_type]
impl Tick {
    async fn doubled(&self) -> i32 {
        self.number * 2
    }
    fn seconds_left(&self, ctx: &Context<'_>) -> Option<i32> {
        ctx.time_left()
            .and_then(|left| left.as_secs().try_into().ok())
    }
}

#[svc::query]
fn hello() -> &'static str {
    "world"
}

/// Counts.
#[svc::subscription]
async fn ticks(ctx: &Context<'_>, #[svc(default = 3)] count: i32) -> impl Stream<Item = Tick> {
    let start = ctx
        .header("x-start")
        .and_then(|start| start.parse().ok())
        .unwrap_or(0);
    stream::iter(start..start + count).map(|number| Tick { number })
}

#[svc::subscription]
fn checked(fail: bool) -> Result<impl Stream<Item = Result<Option<i32>>> + Send> {
    if fail {
        return Err(Error::new(
            ErrorCode::BadUserInput,
            "there is nothing to see",
        ));
    }
    Ok(stream::iter([
        Ok(Some(1)),
        Err(Error::new(ErrorCode::NotFound, "2 is lost")),
        Ok(None),
        Ok(Some(4)),
    ]))
}

#[svc::subscription]
async fn boxed() -> BoxStream<'static, i32> {
    stream::iter([7]).boxed()
}

#[svc::subscription]
fn panics(#[svc(default = false)] early: bool) -> impl Stream<Item = i32> {
    assert!(!early, "too early");
    stream::iter(1..).map(|number| if number < 3 { number } else { panic!("three") })
}

#[svc::subscription]
fn borrowed<'a>(ctx: &'a Context<'_>) -> impl Stream<Item = String> + 'a {
    stream::iter(["a", "b"])
        .map(|part| format!("{part} by {}", ctx.header("x-name").unwrap_or("nobody")))
}

#[svc::subscription]
fn failing_source() -> impl Stream<Item = Result<i32>> {
    stream::iter([Ok(1), Err(Error::internal("a secret cause"))])
        .into_stream()
        .and_then(|n| async move { Ok(n) })
}

/// Counts itself until it is dropped.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[svc::subscription]
fn forever(ctx: &Context<'_>) -> Result<impl Stream<Item = i32> + use<>> {
    let count = ctx.data::<Arc<AtomicUsize>>()?.clone();
    count.fetch_add(1, Ordering::SeqCst);
    let open = Open(count);
    Ok(stream::iter([1])
        .chain(stream::pending())
        .map(move |number| number + i32::from(Arc::strong_count(&open.0) == 0)))
}

#[svc::subscription]
async fn slow_to_open() -> impl Stream<Item = i32> {
    std::future::pending::<()>().await;
    stream::iter([1])
}

fn options() -> AppOptions {
    AppOptions::new()
        .queries(queries![hello])
        .subscriptions(subscriptions![
            ticks,
            checked,
            boxed,
            panics,
            borrowed,
            failing_source,
            forever,
            slow_to_open
        ])
}

async fn started() -> TestService {
    service(options().data(Arc::<AtomicUsize>::default())).await
}

#[tokio::test]
async fn each_event_is_completed_with_the_selection() {
    let service = started().await;
    let document = "subscription { t: ticks(count: 2) { doubled number __typename } }";
    let expected = [0, 1]
        .map(|n| json!({"data": {"t": {"doubled": n * 2, "number": n, "__typename": "Tick"}}}));
    assert_eq!(answers(&service, document).await, expected);
}

#[tokio::test]
async fn variables_defaults_and_headers_reach_the_function() {
    let service = started().await;
    let document = "subscription ($count: Int) { ticks(count: $count) { number } }";
    let subscription = Subscription::new(document).header("x-start", "5").unwrap();
    let answers: Vec<Value> = service
        .subscribe(subscription)
        .await
        .unwrap()
        .collect()
        .await;
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0], json!({"data": {"ticks": {"number": 5}}}));
    let subscription = Subscription::new(document).variables(json!({"count": "many"}));
    let refused = service.subscribe(subscription).await.unwrap_err();
    assert_eq!(refused["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
}

#[tokio::test]
async fn an_event_that_fails_leaves_the_others_alone() {
    let answers = answers(&started().await, "subscription { checked(fail: false) }").await;
    let shown: Vec<_> = answers
        .iter()
        .map(|answer| (&answer["data"]["checked"], answer.get("errors").is_some()))
        .collect();
    assert_eq!(
        shown,
        [
            (&json!(1), false),
            (&json!(null), true),
            (&json!(null), false),
            (&json!(4), false)
        ]
    );
    assert_eq!(answers[1]["errors"][0]["message"], "2 is lost");
    assert_eq!(answers[1]["errors"][0]["path"], json!(["checked"]));
}

#[tokio::test]
async fn an_error_in_place_of_the_stream_refuses_the_subscription() {
    let refused = refused(&started().await, "subscription { checked(fail: true) }").await;
    assert_eq!(refused["errors"][0]["message"], "there is nothing to see");
    assert_eq!(refused.get("data"), None);
}

#[tokio::test]
async fn boxed_and_borrowing_streams_are_accepted() {
    let service = started().await;
    assert_eq!(
        answers(&service, "subscription { boxed }").await,
        [json!({"data": {"boxed": 7}})]
    );
    let expected =
        ["a", "b"].map(|part| json!({"data": {"borrowed": format!("{part} by nobody")}}));
    assert_eq!(
        answers(&service, "subscription { borrowed }").await,
        expected
    );
}

#[tokio::test]
async fn a_panic_is_one_error_and_the_end() {
    let service = started().await;
    let answers = answers(&service, "subscription { panics }").await;
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1], json!({"data": {"panics": 2}}));
    assert_eq!(answers[2]["errors"][0]["message"], "internal server error");
    let refused = refused(&service, "subscription { panics(early: true) }").await;
    assert_eq!(refused["errors"][0]["message"], "internal server error");
    assert!(!refused.to_string().contains("too early"), "{refused}");
}

#[tokio::test]
async fn causes_of_errors_are_masked() {
    let answers = answers(&started().await, "subscription { failing_source }").await;
    assert_eq!(answers[1]["errors"][0]["message"], "internal server error");
    assert!(!answers[1].to_string().contains("secret cause"));
}

#[tokio::test]
async fn dropping_the_answers_ends_the_stream() {
    let open = Arc::<AtomicUsize>::default();
    let service = service(options().data(open.clone())).await;
    let mut first = service
        .subscribe(Subscription::new("subscription { forever }"))
        .await
        .unwrap();
    let second = service
        .subscribe(Subscription::new("subscription { forever }"))
        .await
        .unwrap();
    assert_eq!(first.next().await.unwrap(), json!({"data": {"forever": 1}}));
    assert_eq!(open.load(Ordering::SeqCst), 2);
    drop(first);
    assert_eq!(open.load(Ordering::SeqCst), 1);
    drop(second);
    assert_eq!(open.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_request_timeout_bounds_opening_a_stream_but_not_the_stream() {
    let service = service(options().request_timeout(Duration::from_millis(900))).await;
    let refused = refused(&service, "subscription { slow_to_open }").await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "TIMEOUT");
    let document = "subscription { ticks(count: 2) { number seconds_left } }";
    // Where the machine stands still, the time may be over before the stream is there.
    let mut answers = eventually(async || {
        service
            .subscribe(Subscription::new(document))
            .await
            .map_err(|refused| refused.to_string())
    })
    .await;
    answers.next().await.unwrap();
    tokio::time::sleep(Duration::from_millis(1_800)).await;
    let second = answers.next().await.unwrap();
    assert_eq!(
        second,
        json!({"data": {"ticks": {"number": 1, "seconds_left": 0}}})
    );
    assert_eq!(answers.next().await, None);
}

#[tokio::test]
async fn a_query_is_answered_once() {
    let answer = refused(&started().await, "{ hello }").await;
    assert_eq!(answer, json!({"data": {"hello": "world"}}));
}

#[tokio::test]
async fn a_denied_subscription_never_runs() {
    let open = Arc::<AtomicUsize>::default();
    let options = options()
        .data(open.clone())
        .authorizer(async |request: AuthorizationRequest| {
            let kind = request.operation_type() == svc::authz::OperationType::Subscription;
            kind && request.context().header("x-user").is_some()
        });
    let service = service(options).await;
    let refused = refused(&service, "subscription { forever }").await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "FORBIDDEN");
    assert_eq!(open.load(Ordering::SeqCst), 0);
    let subscription = Subscription::new("subscription { forever }")
        .header("x-user", "ada")
        .unwrap();
    let mut answers = service.subscribe(subscription).await.unwrap();
    assert_eq!(
        answers.next().await.unwrap(),
        json!({"data": {"forever": 1}})
    );
}
