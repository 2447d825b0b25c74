//! Exactly as many pass as are allowed, at the edges of windows too.

use std::time::Duration;

use svc::rate_limit::RateLimit;
use svc::rate_limit::RateLimitStrategy::{FixedWindow, SlidingWindow, TokenBucket};

use super::service::{Clock, ask, flood, limited, serve};

const LIMIT: RateLimit = RateLimit::requests(90).per_minute();
const CLIENT: &str = "192.0.2.1";

#[tokio::test]
async fn a_fixed_window_restarts_at_its_edge() {
    let clock = Clock::new();
    let app = serve(limited(&clock, LIMIT.strategy(FixedWindow))).await;
    clock.before_the_minute(1);
    assert_eq!(flood(&app, CLIENT, "{ hello }", 128).await, 90);
    clock.advance(Duration::from_millis(1));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 128).await, 90);
    clock.before_the_minute(1);
    assert_eq!(flood(&app, CLIENT, "{ hello }", 64).await, 0);
}

#[tokio::test]
async fn a_sliding_window_is_smooth_at_its_edge() {
    let clock = Clock::new();
    let app = serve(limited(&clock, LIMIT.strategy(SlidingWindow))).await;
    clock.before_the_minute(1);
    assert_eq!(flood(&app, CLIENT, "{ hello }", 128).await, 90);
    clock.advance(Duration::from_millis(1));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 64).await, 0);
    // A third of the window before has gone out of the last 60 seconds.
    clock.advance(Duration::from_secs(20));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 128).await, 30);
    clock.advance(Duration::from_secs(40));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 128).await, 60);
}

#[tokio::test]
async fn a_token_bucket_is_refilled_evenly() {
    let clock = Clock::new();
    let app = serve(limited(&clock, LIMIT.strategy(TokenBucket).burst(70))).await;
    clock.before_the_minute(1);
    assert_eq!(flood(&app, CLIENT, "{ hello }", 128).await, 70);
    clock.advance(Duration::from_millis(1));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 64).await, 0);
    clock.advance(Duration::from_secs(10));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 64).await, 15);
    clock.advance(Duration::from_secs(60));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 128).await, 70);
}

/// A client that waits for `Retry-After` is admitted, and not a second sooner.
#[tokio::test]
async fn a_client_is_admitted_exactly_after_retry_after() {
    for strategy in [FixedWindow, SlidingWindow, TokenBucket] {
        let clock = Clock::new();
        let limit = RateLimit::requests(7)
            .per(Duration::from_secs(90))
            .strategy(strategy)
            .burst(7);
        let app = serve(limited(&clock, limit)).await;
        assert_eq!(
            flood(&app, CLIENT, "{ hello }", 64).await,
            7,
            "{strategy:?}"
        );
        let refused = ask(&app, CLIENT, "{ hello }").await;
        let wait: u64 = refused.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        clock.advance(Duration::from_secs(wait - 1));
        assert_eq!(
            ask(&app, CLIENT, "{ hello }").await.status,
            429,
            "{strategy:?}"
        );
        clock.advance(Duration::from_secs(1));
        assert_eq!(
            ask(&app, CLIENT, "{ hello }").await.status,
            200,
            "{strategy:?}"
        );
    }
}
