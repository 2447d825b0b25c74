//! Limits of paths: the rules, the settings, and the responses to clients.

use std::time::Duration;

use serde_json::{Value, json};
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting, create_default_rate_limit_rules};
use svc_tests::{App, Reply};

use super::service::{Clock, ask, config, flood, passing, post, serve, wide};

const CLIENT: &str = "192.0.2.1";

async fn get(app: &App, path: &str, client: &str) -> Reply {
    app.send(app.request("GET", path).header("x-forwarded-for", client))
        .await
}

/// The number that pass of so many requests to a path.
async fn passing_at(app: &App, path: &str, count: usize) -> usize {
    passing((0..count).map(|_| get(app, path, CLIENT))).await
}

#[tokio::test]
async fn the_default_rules_match_the_book() {
    let clock = Clock::new();
    let app = serve(clock.set_in(RateLimiting::new())).await;
    for (path, most) in [("/auth/login", 5), ("/api/things", 100), ("/other", 100)] {
        let replies =
            futures_util::future::join_all((0..most + 3).map(|_| get(&app, path, CLIENT))).await;
        assert_eq!(
            replies.iter().filter(|reply| reply.status == 429).count(),
            3,
            "{path}"
        );
        assert_eq!(get(&app, path, "192.0.2.2").await.status, 200, "{path}");
    }
    // Paths without a rule are counted together, those that lead nowhere among them.
    assert_eq!(
        [
            get(&app, "/nowhere", CLIENT).await.status,
            get(&app, "/nowhere", "192.0.2.2").await.status
        ],
        [429, 404]
    );
    assert_eq!(flood(&app, CLIENT, "{ hello }", 100).await, 60);
    clock.advance(Duration::from_secs(120));
    assert_eq!(passing_at(&app, "/auth/login", 3).await, 0);
    clock.advance(Duration::from_secs(600));
    assert_eq!(passing_at(&app, "/auth/login", 8).await, 5);
    // The same as a list, to which a program may add.
    let listed = serve(
        clock
            .set_in(RateLimiting::new())
            .rules(create_default_rate_limit_rules()),
    )
    .await;
    assert_eq!(flood(&listed, CLIENT, "{ hello }", 100).await, 60);
    assert_eq!(passing_at(&listed, "/auth/login", 8).await, 5);
}

/// Routes of accounts that only take a token are no attempts to log in.
#[tokio::test]
async fn routes_with_a_token_are_not_counted_as_attempts() {
    let app = serve(Clock::new().set_in(RateLimiting::new())).await;
    for path in [
        "/auth/me",
        "/auth/refresh",
        "/auth/logout",
        "/auth/logout-all",
        "/auth/sessions",
        "/auth/sessions/1",
    ] {
        let replies =
            futures_util::future::join_all((0..50).map(|_| get(&app, path, CLIENT))).await;
        assert!(replies.iter().all(|reply| reply.status != 429), "{path}");
    }
    assert_eq!(passing_at(&app, "/auth/login", 8).await, 5);
    assert_eq!(
        get(&app, "/auth/register", CLIENT).await.status,
        429,
        "attempts of all kinds are counted together"
    );
    assert_ne!(get(&app, "/auth/me", CLIENT).await.status, 429);
}

#[tokio::test]
async fn the_settings_limit_graphql() {
    let clock = Clock::new();
    let settings = config(&[
        ("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "7"),
        ("SVC_RATE_LIMIT_REQUESTS_PER_HOUR", "10"),
        ("SVC_RATE_LIMIT_WINDOW_TYPE", "fixed"),
    ]);
    let app = serve(clock.set_in(RateLimiting::new().config(settings))).await;
    assert_eq!(flood(&app, CLIENT, "{ hello }", 20).await, 7);
    clock.advance(Duration::from_secs(60));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 20).await, 3);
    let refused = ask(&app, CLIENT, "{ hello }").await;
    assert_eq!(refused.headers["x-ratelimit-window"], "3600");
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(flood(&app, CLIENT, "{ hello }", 20).await, 7);
}

#[tokio::test]
async fn nothing_is_limited_where_limits_are_off() {
    let settings = config(&[
        ("SVC_RATE_LIMIT_ENABLED", "false"),
        ("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "1"),
    ]);
    let app = serve(RateLimiting::new().config(settings)).await;
    assert_eq!(flood(&app, CLIENT, "{ hello }", 64).await, 64);
    assert!(
        !ask(&app, CLIENT, "{ hello }")
            .await
            .headers
            .contains_key("x-ratelimit-limit")
    );
}

/// The body and the headers of a request that is limited outside of GraphQL.
#[tokio::test]
async fn a_limited_request_gets_a_message_and_retry_after() {
    let clock = Clock::new();
    let rule =
        RateLimitRule::new("/api/*", RateLimit::requests(2).per_minute()).message("two are enough");
    let app = serve(wide(&clock).rules([rule])).await;
    clock.before_the_minute(60_000);
    assert_eq!(passing_at(&app, "/api/things", 2).await, 2);
    clock.advance(Duration::from_millis(15_500));
    let refused = get(&app, "/api/things", CLIENT).await;
    assert_eq!(refused.status, 429);
    // The window ends in 44.5 seconds; then each of the two has to be gone by half a window.
    let expected =
        json!({ "error": "Rate Limit Exceeded", "message": "two are enough", "retry_after": 75 });
    assert_eq!(refused.json(), expected);
    let told = [
        "retry-after",
        "x-ratelimit-limit",
        "x-ratelimit-window",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ];
    assert_eq!(
        told.map(|name| refused.headers[name].to_str().unwrap()),
        ["75", "2", "60", "0", "45"]
    );
    assert_eq!(refused.headers["cache-control"], "no-store");
    clock.advance(Duration::from_secs(75));
    assert_eq!(get(&app, "/api/things", CLIENT).await.status, 200);
}

/// A request to the endpoint of GraphQL gets the same as a GraphQL error.
#[tokio::test]
async fn a_limited_operation_gets_a_graphql_error() {
    let clock = Clock::new();
    let rule = RateLimitRule::new("/graphql", RateLimit::requests(1).per_minute())
        .message("one is enough");
    let app = serve(wide(&clock).rules([rule])).await;
    assert_eq!(ask(&app, CLIENT, "{ hello }").await.status, 200);
    for accepted in ["application/json", "application/graphql-response+json"] {
        let request = app
            .request("POST", "/graphql")
            .header("x-forwarded-for", CLIENT)
            .header("accept", accepted);
        let body = json!({ "query": "{ hello }" }).to_string();
        let refused = app
            .send(
                request
                    .header("content-type", "application/json")
                    .body(body),
            )
            .await;
        assert_eq!(
            (refused.status, refused.code(), refused.message()),
            (429, "RATE_LIMITED".into(), "one is enough".into())
        );
        assert!(
            refused.headers["content-type"]
                .to_str()
                .unwrap()
                .starts_with(accepted)
        );
        let told: u64 = refused.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        let extensions = &refused.json()["errors"][0]["extensions"];
        assert_eq!(
            *extensions,
            json!({"code": "RATE_LIMITED", "retryAfter": told, "limit": 1, "window": 60})
        );
        assert_eq!(refused.headers["x-ratelimit-limit"], "1");
        assert_eq!(refused.json()["data"], Value::Null);
    }
}

#[tokio::test]
async fn the_longest_literal_prefix_wins_then_the_first() {
    let clock = Clock::new();
    let rules = [
        ("*", 50),
        ("/api/*", 3),
        ("/a*", 40),
        ("/api/things", 2),
        ("/api/thing*", 30),
        ("/api/things", 20),
    ];
    let rules =
        rules.map(|(pattern, count)| RateLimitRule::new(pattern, RateLimit::requests(count)));
    let app = serve(wide(&clock).rules(rules)).await;
    let limit = async |path: &str| {
        get(&app, path, CLIENT).await.headers["x-ratelimit-limit"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(limit("/api/things").await, "2");
    assert_eq!(limit("/api/thing").await, "30");
    assert_eq!(limit("/api/other").await, "3");
    assert_eq!(limit("/auth/login").await, "40");
    assert_eq!(limit("/other").await, "50");
}

#[tokio::test]
async fn probes_are_never_limited() {
    let clock = Clock::new();
    let nothing = RateLimit::requests(1).per_hour();
    let app = serve(
        wide(&clock)
            .rules([RateLimitRule::new("*", nothing)])
            .config(config(&[("SVC_RATE_LIMIT_BLACKLIST", "192.0.2.0/24")])),
    )
    .await;
    for path in ["/health", "/ready", "/metrics"] {
        for _ in 0..3 {
            assert!(
                !matches!(get(&app, path, CLIENT).await.status, 403 | 429),
                "{path}"
            );
        }
    }
}

/// Requests that are answered without the engine count as well: pages, wrong methods, bodies that
/// are not read.
#[tokio::test]
async fn every_request_to_the_endpoint_is_counted() {
    let clock = Clock::new();
    let limit = RateLimit::requests(4).per_minute();
    let app = serve(wide(&clock).rules([RateLimitRule::new("/graphql/*", limit)])).await;
    let page = app
        .request("GET", "/graphql")
        .header("x-forwarded-for", CLIENT)
        .header("accept", "text/html");
    assert_eq!(app.send(page).await.status, 200);
    assert_eq!(
        app.send(
            app.request("PUT", "/graphql")
                .header("x-forwarded-for", CLIENT)
        )
        .await
        .status,
        405
    );
    assert_eq!(
        app.send(
            app.request("POST", "/graphql")
                .header("x-forwarded-for", CLIENT)
        )
        .await
        .status,
        415
    );
    assert_eq!(
        post(&app, "/graphql", CLIENT, &json!({ "query": "{ nothing }" }))
            .await
            .code(),
        "GRAPHQL_VALIDATION_FAILED"
    );
    let page = app
        .request("GET", "/graphql")
        .header("x-forwarded-for", CLIENT)
        .header("accept", "text/html");
    let refused = app.send(page).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]),
        (429, &json!("Rate Limit Exceeded"))
    );
    assert_eq!(ask(&app, CLIENT, "{ hello }").await.status, 429);
}
