//! Requests that are refused are lines too, whoever refuses them.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
use svc::{AppOptions, Limits, ProtectionConfig, SvcConfig, create_svc_app, setup_rate_limiting};
use svc_tests::{App, Log, TestDatabase, eventually, is_alone};

use super::service::{SQL, logging, options, request_line};

/// The number of `waits` that have begun.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

#[svc::query]
async fn waits(seconds: f64) -> bool {
    BEGUN.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(std::time::Duration::from_secs_f64(seconds)).await;
    true
}

/// The one query of these tests.
pub(super) fn queries() -> svc::QueryList {
    svc::queries![waits]
}

fn post(app: &App, id: &str, document: &str) -> reqwest::RequestBuilder {
    app.request("POST", "/graphql")
        .header("x-request-id", id)
        .json(&json!({ "query": document }))
}

#[tokio::test]
async fn requests_refused_before_reading_are_logged() {
    if !is_alone(module_path!(), "requests_refused_before_reading_are_logged") {
        return;
    }
    let database = TestDatabase::new(SQL).await;
    let log = Log::start();
    let limits = Limits {
        body: 1_000,
        ..Limits::default()
    };
    let app = App::serve(options(
        &database,
        SvcConfig {
            limits,
            ..logging()
        },
    ))
    .await;
    assert_eq!(
        app.send(post(&app, "large", &"x".repeat(2_000)))
            .await
            .status,
        413
    );
    request_line(&log, "large", &["status=413", "code=\"QUERY_TOO_LARGE\""]);
    let form = app
        .request("POST", "/graphql")
        .header("x-request-id", "forged")
        .header("content-type", "text/plain");
    assert_eq!(app.send(form.body("{}")).await.status, 403);
    request_line(
        &log,
        "forged",
        &["status=403", "code=\"CSRF_PROTECTION_FAILED\""],
    );
    let other = app
        .request("DELETE", "/graphql")
        .header("x-request-id", "method");
    assert_eq!(app.send(other).await.status, 405);
    request_line(&log, "method", &["status=405", "method=\"DELETE\""]);
    let mutation = app
        .request("QUERY", "/graphql")
        .header("x-request-id", "safe")
        .header("content-type", "application/json")
        .body(r#"{"query":"mutation { nothing }"}"#);
    app.send(mutation).await;
    request_line(&log, "safe", &["method=\"QUERY\"", "path=\"/graphql\""]);
}

#[tokio::test]
async fn rate_limited_requests_are_logged() {
    if !is_alone(module_path!(), "rate_limited_requests_are_logged") {
        return;
    }
    let log = Log::start();
    let limiting = || {
        RateLimiting::new().rule(RateLimitRule::new(
            "/graphql",
            RateLimit::requests(1).per_minute(),
        ))
    };
    let of = || {
        let options = AppOptions::new()
            .config(logging())
            .database_url("postgres://nobody@127.0.0.1:1/nothing");
        options.queries(queries())
    };
    let inside = App::serve(of().rate_limiting(limiting())).await;
    let around = setup_rate_limiting(create_svc_app(of()).await.unwrap(), limiting()).unwrap();
    for (app, name) in [
        (inside, "inside"),
        (App::serve_router(around).await, "around"),
    ] {
        for status in [200, 429] {
            let id = format!("{name}-{status}");
            assert_eq!(
                app.send(post(&app, &id, "{ waits(seconds: 0) }"))
                    .await
                    .status,
                status
            );
            request_line(&log, &id, &[&format!("status={status}")]);
        }
    }
}

#[tokio::test]
async fn shed_requests_and_disconnected_clients_are_logged() {
    if !is_alone(
        module_path!(),
        "shed_requests_and_disconnected_clients_are_logged",
    ) {
        return;
    }
    let log = Log::start();
    let shed_after = std::time::Duration::ZERO;
    let protection = ProtectionConfig {
        max_in_flight: 1,
        shed_after,
        ..ProtectionConfig::default()
    };
    let options = AppOptions::new()
        .config(SvcConfig {
            protection,
            ..logging()
        })
        .queries(queries());
    let app = App::serve(options.database_url("postgres://nobody@127.0.0.1:1/nothing")).await;
    let gone = tokio::spawn(post(&app, "gone", "{ waits(seconds: 60) }").send());
    eventually(async || match BEGUN.load(Ordering::SeqCst) {
        1 => Ok(()),
        begun => Err(format!("{begun} have begun")),
    })
    .await;
    assert_eq!(
        app.send(post(&app, "shed", "{ waits(seconds: 0) }"))
            .await
            .status,
        503
    );
    let text = log.text();
    assert!(
        text.lines()
            .any(|line| line.contains("\"shed\"") && line.contains("status=503")),
        "{text}"
    );
    gone.abort();
    log.has("client_gone=true").await;
    let text = log.text();
    let gone = text
        .lines()
        .find(|line| line.contains("client_gone=true"))
        .unwrap();
    assert!(
        gone.contains("request_id=\"gone\"") && !gone.contains("status="),
        "{gone}"
    );
}
