//! Limits and settings that cannot be.

use std::time::Duration;

use svc::axum::Router;
use svc::prelude::*;
use svc::rate_limit::{ClientList, RateLimit, RateLimitRule, RateLimiting};
use svc::setup_rate_limiting;
use svc_tests::Log;

fn refused(limiting: RateLimiting) -> String {
    setup_rate_limiting(Router::new(), limiting)
        .unwrap_err()
        .to_string()
}

fn refused_setting(name: &'static str, value: &'static str) -> String {
    SvcConfig::from_variables(|asked| (asked == name).then(|| value.to_owned()))
        .unwrap_err()
        .to_string()
}

#[test]
fn an_invalid_limit_is_named() {
    let rule = |limit| RateLimiting::new().rules([RateLimitRule::new("/x", limit)]);
    let error = refused(rule(RateLimit::requests(0)));
    assert_eq!(
        error,
        "the rate limit of `/x` is \"0\"; its count must be from 1 to 50000000"
    );
    let error = refused(rule(RateLimit::requests(1).per(Duration::from_millis(10))));
    assert_eq!(
        error,
        "the rate limit of `/x` is \"0\"; its window in seconds must be from 1 to 86400"
    );
    assert!(
        refused(rule(
            RateLimit::requests(1).per(Duration::from_secs(86_401))
        ))
        .contains("window")
    );
    assert!(refused(rule(RateLimit::requests(1).burst(0))).contains("its burst must be from 1"));
    assert!(refused(rule(RateLimit::cost(10))).contains("it must be RateLimit::requests(…)"));
    assert!(
        refused(RateLimiting::new().budget(RateLimit::requests(10)))
            .contains("it must be RateLimit::cost(…)")
    );
    assert!(
        refused(RateLimiting::new().default_limit(RateLimit::requests(0)))
            .contains("of other paths")
    );
    let many = RateLimit::requests(1);
    assert!(
        refused(RateLimiting::new().kinds(many, RateLimit::requests(0), many))
            .contains("of mutation")
    );
    assert!(
        refused(RateLimiting::new().tiers(many, many, RateLimit::requests(0))).contains("of high")
    );
    let error = refused(RateLimiting::new().thresholds(30, 20));
    assert_eq!(
        error,
        "the threshold of medium complexity is \"30\"; it must be at most that of high complexity, which is 20"
    );
    let error = refused(RateLimiting::new().rules([RateLimitRule::new("api", many)]));
    assert_eq!(
        error,
        "the path pattern of a rate limit is \"api\"; it must begin with / or *"
    );
}

#[test]
fn an_invalid_setting_is_named() {
    let error = refused_setting("SVC_RATE_LIMIT_WINDOW_TYPE", "rolling");
    assert_eq!(
        error,
        "SVC_RATE_LIMIT_WINDOW_TYPE is \"rolling\"; it must be sliding or fixed"
    );
    assert!(refused_setting("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "0").contains("requests from 1"));
    assert!(
        refused_setting("SVC_TRUSTED_PROXIES", "10.0.0.0/33")
            .contains("it must be addresses and networks")
    );
    assert!(
        refused_setting("SVC_FORWARDED_HEADER", "x-client")
            .contains("x-forwarded-for, x-real-ip or forwarded")
    );
    // An entry may be a key, which is nobody's business.
    for entry in ["10.0.0.0/99", "hunter2-hunter2", "key:"] {
        let error = refused_setting("SVC_RATE_LIMIT_WHITELIST", entry);
        assert!(
            error.starts_with("SVC_RATE_LIMIT_WHITELIST is \"***\"; it must be addresses"),
            "{error}"
        );
        assert!(
            entry
                .parse::<ClientList>()
                .unwrap_err()
                .to_string()
                .starts_with("a list of clients is \"***\";")
        );
    }
    let list: ClientList = "key:hunter2-hunter2".parse().unwrap();
    let shown = format!("{list:?} {:?}", RateLimiting::new());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn the_start_warns_where_clients_can_forge_their_address() {
    let log = Log::start();
    drop(setup_rate_limiting(Router::new(), RateLimiting::new()).unwrap());
    log.has("clients can claim any address").await;
    let log = Log::start();
    let config = super::service::config(&[("SVC_TRUSTED_PROXIES", "none")]);
    drop(setup_rate_limiting(Router::new(), RateLimiting::new().config(config)).unwrap());
    assert!(!log.text().contains("clients can claim"), "{}", log.text());
}
