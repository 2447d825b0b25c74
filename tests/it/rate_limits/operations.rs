//! Limits by the kind and the complexity of operations.

use std::time::Duration;

use svc::rate_limit::{RateLimit, RateLimiting};

use super::service::{Clock, ask, flood, serve, wide};

const CLIENT: &str = "192.0.2.1";

#[tokio::test]
async fn kinds_are_counted_by_themselves() {
    let clock = Clock::new();
    let [queries, mutations] = [4, 2].map(RateLimit::requests);
    let app = serve(wide(&clock).kinds(queries, mutations, mutations)).await;
    assert_eq!(flood(&app, CLIENT, "{ hello }", 10).await, 4);
    assert_eq!(flood(&app, CLIENT, "mutation { ping }", 10).await, 2);
    let refused = ask(&app, CLIENT, "mutation { ping }").await;
    assert_eq!(
        (refused.status, refused.code()),
        (429, "RATE_LIMITED".to_owned())
    );
    assert_eq!(refused.headers["x-ratelimit-limit"], "2");
    assert_eq!(flood(&app, "192.0.2.2", "mutation { ping }", 10).await, 2);
    clock.advance(Duration::from_secs(120));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 10).await, 4);
}

/// `items(limit: n) { name size }` costs 1 and twice the page.
#[tokio::test]
async fn tiers_are_counted_by_themselves() {
    let clock = Clock::new();
    let tiers = [5, 3, 1].map(RateLimit::requests);
    let app = serve(
        wide(&clock)
            .tiers(tiers[0], tiers[1], tiers[2])
            .thresholds(21, 41),
    )
    .await;
    for (limit, passing) in [(9, 5), (20, 1), (10, 3), (19, 0)] {
        let document = format!("{{ items(limit: {limit}) {{ name size }} }}");
        assert_eq!(flood(&app, CLIENT, &document, 8).await, passing, "{limit}");
    }
}

#[tokio::test]
async fn the_default_limits_match_the_book() {
    let clock = Clock::new();
    let wide_rule = svc::rate_limit::RateLimitRule::new("*", RateLimit::requests(1_000));
    let app = serve(clock.set_in(RateLimiting::new()).rules([wide_rule])).await;
    assert_eq!(flood(&app, CLIENT, "mutation { ping }", 30).await, 20);
    assert_eq!(flood(&app, CLIENT, "{ hello }", 110).await, 100);
    let large = "{ items(limit: 1000) { name size } }";
    assert_eq!(flood(&app, "192.0.2.2", large, 30).await, 20);
}
