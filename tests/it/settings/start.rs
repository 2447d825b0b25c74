//! The start of a program in a process of its own, with an environment of its own.

use std::process::{Command, Stdio};

use svc::prelude::*;
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimitStrategy, RateLimiting};
use svc::{MetricsConfig, Server, SvcConfig, create_svc_app, setup_metrics, setup_rate_limiting};
use svc_tests::Program;

/// The way in which the program takes its settings, and the parts that it has.
const WAY: &str = "TEST_OF_SETTINGS";

#[svc::query]
fn hello() -> &'static str {
    "world"
}

/// Runs the test again as a program with these settings, and returns the lines of its log.
pub(super) fn log_of(test: &str, way: &str, settings: &[(&str, &str)]) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .stdout(Stdio::null());
    command
        .env("SVC_DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing")
        .env("SVC_SECURITY_LOG_PATH", "none");
    command.env(WAY, way).envs(settings.iter().copied());
    let (status, lines) = Program::start(&mut command).end();
    assert!(status.success(), "{way}: {lines:#?}");
    lines
}

/// Whether this is such a program; it has started and ended.
pub(super) async fn is_program() -> bool {
    let Ok(way) = std::env::var(WAY) else {
        return false;
    };
    let options = match way.as_str() {
        "from_env" => AppOptions::from_env().unwrap(),
        "code" => AppOptions::new().database_url("postgres://nobody@127.0.0.1:1/nothing"),
        _ => AppOptions::new().config(SvcConfig::from_env().unwrap()),
    };
    let options = match way.as_str() {
        "parts" => {
            options.authorizer(async |_: AuthorizationRequest| AuthorizationDecision::allow())
        }
        _ => options,
    };
    let app = create_svc_app(options.queries(queries![hello]))
        .await
        .unwrap();
    let reports = RateLimitRule::new("/reports/*", RateLimit::requests(5).per_minute());
    let app = match way.as_str() {
        "parts" => {
            let limited =
                setup_rate_limiting(app, RateLimiting::from_env().unwrap().rule(reports)).unwrap();
            setup_metrics(limited, MetricsConfig::from_env().unwrap()).unwrap()
        }
        "buckets" => {
            let bucket = RateLimit::requests(5).strategy(RateLimitStrategy::TokenBucket);
            setup_rate_limiting(app, RateLimiting::from_env().unwrap().default_limit(bucket))
                .unwrap()
        }
        "own limits" => setup_rate_limiting(app, RateLimiting::new()).unwrap(),
        _ => app,
    };
    Server::bind(([127, 0, 0, 1], 0))
        .await
        .unwrap()
        .run(app, std::future::ready(()))
        .await;
    true
}
