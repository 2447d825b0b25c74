//! The headers of accepted responses, and those of the IETF's draft.

use svc::rate_limit::{RateLimit, RateLimitStrategy};

use super::service::{Clock, ask, config, limited, serve};

#[tokio::test]
async fn accepted_responses_state_the_remaining_requests() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(3).per_minute())).await;
    clock.before_the_minute(20_000);
    for left in ["2", "1", "0"] {
        let reply = ask(&app, "192.0.2.1", "{ hello }").await;
        let told = [
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
            "x-ratelimit-window",
        ];
        assert_eq!(
            told.map(|name| reply.headers[name].to_str().unwrap()),
            ["3", left, "20", "60"]
        );
        assert!(
            !reply.headers.contains_key("retry-after") && !reply.headers.contains_key("ratelimit")
        );
    }
}

/// Of several limits the headers state the one with the least left.
#[tokio::test]
async fn headers_state_the_tightest_limit() {
    let clock = Clock::new();
    let wide = RateLimit::requests(50);
    let limiting = limited(&clock, RateLimit::requests(10)).kinds(
        wide,
        RateLimit::requests(4).per_hour(),
        wide,
    );
    let app = serve(limiting).await;
    let query = ask(&app, "192.0.2.1", "{ hello }").await;
    assert_eq!(
        (
            &query.headers["x-ratelimit-limit"],
            &query.headers["x-ratelimit-remaining"]
        ),
        (&"10".parse().unwrap(), &"9".parse().unwrap())
    );
    let mutation = ask(&app, "192.0.2.1", "mutation { ping }").await;
    assert_eq!(mutation.headers["x-ratelimit-limit"], "4");
    assert_eq!(mutation.headers["x-ratelimit-window"], "3600");
}

#[tokio::test]
async fn the_draft_headers_state_all_limits() {
    let clock = Clock::new();
    let many = RateLimit::requests(50);
    let limiting = limited(
        &clock,
        RateLimit::requests(1).strategy(RateLimitStrategy::FixedWindow),
    );
    let limiting = limiting
        .kinds(RateLimit::requests(9), many, many)
        .tiers(many, many, many);
    let app = serve(limiting.config(config(&[("SVC_RATE_LIMIT_STANDARD_HEADERS", "true")]))).await;
    clock.before_the_minute(60_000);
    let reply = ask(&app, "192.0.2.1", "{ hello }").await;
    assert_eq!(
        reply.headers["ratelimit-policy"],
        "\"/graphql/*\";q=1;w=60, \"query\";q=9;w=60, \"low\";q=50;w=60"
    );
    assert_eq!(
        reply.headers["ratelimit"],
        "\"/graphql/*\";r=0;t=60, \"query\";r=8;t=60, \"low\";r=49;t=60"
    );
    let refused = ask(&app, "192.0.2.1", "{ hello }").await;
    assert_eq!(
        refused.headers["ratelimit-policy"],
        "\"/graphql/*\";q=1;w=60"
    );
    assert_eq!(refused.headers["ratelimit"], "\"/graphql/*\";r=0;t=60");
}
