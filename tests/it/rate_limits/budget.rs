//! Budgets of complexity, and what is given back of them. `items(limit: n) { name size }` asks for
//! 1 and twice the page, and answers with three items.

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Value, json};
use svc::rate_limit::RateLimit;
use svc_tests::{App, Reply, eventually};

use super::service::{Clock, ask, serve, wide};

const CLIENT: &str = "192.0.2.1";

async fn serve_budget(clock: &Clock, budget: u64) -> App {
    serve(wide(clock).budget(RateLimit::cost(budget).per_minute())).await
}

async fn ask_with_cost(app: &App, document: &str) -> Reply {
    send_with_cost(app, &json!({ "query": document })).await
}

async fn send_with_cost(app: &App, body: &Value) -> Reply {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    app.send(
        request
            .header("x-forwarded-for", CLIENT)
            .header("x-ratelimit-cost", "true")
            .body(body.to_string()),
    )
    .await
}

#[tokio::test]
async fn unused_complexity_is_refunded() {
    let clock = Clock::new();
    let app = serve_budget(&clock, 2_010).await;
    clock.before_the_minute(60_000);
    let reply = ask_with_cost(&app, "{ items(limit: 1000) { name size } }").await;
    let minute = reply.json()["extensions"]["rateLimit"]["resetAt"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(minute.ends_with(":00Z"), "{minute}");
    let expected = json!({ "limit": 2_010, "remaining": 2_003, "cost": 7, "resetAt": minute });
    assert_eq!(reply.json()["extensions"], json!({ "rateLimit": expected }));
    // 2,003 are left, of which this asks for 2,001.
    assert_eq!(
        ask_with_cost(&app, "{ items(limit: 1000) { name size } }")
            .await
            .json()["extensions"]["rateLimit"]["remaining"],
        1_996
    );
    assert_eq!(
        ask(&app, CLIENT, "{ items(limit: 1000) { name size } }")
            .await
            .status,
        429
    );
    let small = ask(&app, CLIENT, "{ items(limit: 3) { name size } }").await;
    assert_eq!(
        (small.status, small.json()["extensions"].clone()),
        (200, Value::Null)
    );
}

#[tokio::test]
async fn an_operation_over_the_whole_budget_never_passes() {
    let clock = Clock::new();
    let app = serve_budget(&clock, 100).await;
    let refused = ask(&app, CLIENT, "{ items(limit: 1000) { name size } }").await;
    assert_eq!(
        (refused.status, refused.code()),
        (429, "RATE_LIMITED".to_owned())
    );
    assert_eq!(
        ask(&app, CLIENT, "{ items(limit: 40) { name size } }")
            .await
            .status,
        200
    );
}

/// Aliases are not cheaper than what they stand for.
#[tokio::test]
async fn aliases_pay_for_each() {
    let clock = Clock::new();
    let app = serve_budget(&clock, 50).await;
    let reply = ask_with_cost(
        &app,
        "{ a: items(limit: 3) { name size } b: items(limit: 3) { n: name m: name size } }",
    )
    .await;
    // 7 for the first, and 1 and 3 times 3 for the second.
    assert_eq!(reply.json()["extensions"]["rateLimit"]["cost"], 17);
    assert_eq!(reply.json()["extensions"]["rateLimit"]["remaining"], 33);
}

/// A client that goes away gets back what was not used, once.
#[tokio::test]
async fn a_dropped_request_is_refunded_its_unused_budget_once() {
    // Enough for looks until what is waited for has happened, each of which costs one.
    let budget: u32 = 100_000;
    let clock = Clock::new();
    let app = serve_budget(&clock, budget.into()).await;
    let looks = Cell::new(0_i64);
    let taken = async || {
        let reply = ask_with_cost(&app, "{ hello }").await;
        looks.set(looks.get() + 1);
        let left = reply.json()["extensions"]["rateLimit"]["remaining"].as_i64();
        left.map(|left| i64::from(budget) - left - looks.get())
            .ok_or(reply.text)
    };
    let until_taken = async |expected: i64| {
        eventually(async || match taken().await? {
            found if found == expected => Ok(()),
            other => Err(format!("{other} are taken")),
        })
        .await;
    };
    tokio::select! {
        reply = ask(&app, CLIENT, "{ never(limit: 900) { name size } }") => panic!("{reply:?}"),
        // It is dropped once all that it may use has been taken.
        () = until_taken(1_801) => {}
    }
    // The field itself was used.
    until_taken(1).await;
    assert_eq!(taken().await, Ok(1));
}

/// A request that fails has not used what it asked for either.
#[tokio::test]
async fn a_timed_out_request_is_refunded_its_unused_budget() {
    let clock = Clock::new();
    let limiting = wide(&clock).budget(RateLimit::cost(2_010).per_minute());
    let options = super::service::options().request_timeout(Duration::from_secs(3));
    let app = super::service::serve_options(options, limiting).await;
    let late = ask_with_cost(&app, "{ never(limit: 900) { name size } }").await;
    assert_eq!((late.status, late.code()), (504, "TIMEOUT".to_owned()));
    assert_eq!(late.json()["extensions"]["rateLimit"]["remaining"], 2_009);
}

/// An error can end a query on purpose, so it must not make the work of other fields free.
#[tokio::test]
async fn a_halted_query_pays_for_the_work_that_began() {
    let clock = Clock::new();
    let app = serve_budget(&clock, 10_000).await;
    for (document, on_error, cost) in [
        // The field runs when the error drops it.
        ("{ never(limit: 900) { name size } broken }", "HALT", 1_802),
        // The error comes before the field.
        ("{ broken never(limit: 900) { name size } }", "HALT", 2),
        // The error is in the first of three items.
        ("{ items(limit: 1000) { name weight } }", "HALT", 2_001),
        ("{ items(limit: 1000) { name weight } }", "NULL", 7),
        // The items are complete before the error.
        ("{ items(limit: 1000) { name size } broken }", "HALT", 8),
        ("{ items(limit: 1000) { name size } }", "HALT", 7),
    ] {
        let reply = send_with_cost(&app, &json!({ "query": document, "onError": on_error })).await;
        let json = reply.json();
        let told = json["extensions"]["rateLimit"]["cost"].as_u64();
        assert_eq!(told, Some(cost), "{document} {on_error}: {json}");
    }
}
