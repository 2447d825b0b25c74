//! Limits that are an option of the application: without a layer around its router.

use serde_json::json;
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
use svc::{AuthConfig, OperationsConfig, SvcConfig};
use svc_tests::{App, Reply, Socket};

use super::service::{Clock, ask, config, limited, options, post, with_batches};

const CLIENT: &str = "192.0.2.1";

fn two(clock: &Clock) -> RateLimiting {
    limited(clock, RateLimit::requests(2).per_minute())
}

async fn get(app: &App, path: &str) -> Reply {
    app.send(app.request("GET", path).header("x-forwarded-for", CLIENT))
        .await
}

#[tokio::test]
async fn graphql_is_limited_on_every_path_and_method() {
    let clock = Clock::new();
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let configured = || {
        let options = options().config(SvcConfig {
            operations: operations.clone(),
            ..SvcConfig::default()
        });
        options.database_url("postgres://nobody@127.0.0.1:1/nothing")
    };
    let body = json!({ "query": "{ hello }" });
    for path in [
        "POST /graphql",
        "POST /graphql/rust",
        "GET /graphql?query={hello}",
        "PUT /graphql",
    ] {
        let app = App::serve(configured().rate_limiting(two(&clock))).await;
        let (method, path) = path.split_once(' ').unwrap();
        let send = async || match method {
            "POST" => post(&app, path, CLIENT, &body).await,
            method => {
                app.send(app.request(method, path).header("x-forwarded-for", CLIENT))
                    .await
            }
        };
        let (first, second, third) = (send().await, send().await, send().await);
        let left = |reply: &Reply| {
            reply.headers["x-ratelimit-remaining"]
                .to_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(
            [left(&first), left(&second), left(&third)],
            ["1", "0", "0"],
            "{method} {path}"
        );
        assert_eq!(
            (second.status == 429, third.status),
            (false, 429),
            "{method} {path}"
        );
        assert!(third.headers.contains_key("retry-after"), "{method} {path}");
        assert_eq!(
            ask(&app, "192.0.2.2", "{ hello }").await.status,
            200,
            "another client"
        );
    }
}

#[tokio::test]
async fn posts_gets_and_socket_upgrades_share_one_limit() {
    let clock = Clock::new();
    let app = App::serve(options().rate_limiting(two(&clock))).await;
    assert_eq!(ask(&app, CLIENT, "{ hello }").await.status, 200);
    assert_eq!(get(&app, "/graphql?query={hello}").await.status, 200);
    let headers = [
        ("sec-websocket-protocol", "graphql-transport-ws"),
        ("x-forwarded-for", CLIENT),
    ];
    assert_eq!(Socket::upgrade(&app, &headers).await.map(drop), Err(429));
    for path in ["/health", "/ready"] {
        assert_ne!(get(&app, path).await.status, 429, "{path}");
    }
}

#[tokio::test]
async fn each_request_of_a_batch_and_of_a_socket_is_counted() {
    let clock = Clock::new();
    let app = App::serve(with_batches().rate_limiting(two(&clock))).await;
    let one = json!({ "query": "{ hello }" });
    let answers = post(&app, "/graphql", CLIENT, &json!([one, one, one]))
        .await
        .json();
    let codes: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["errors"][0]["extensions"]["code"])
        .collect();
    assert_eq!(codes, [&json!(null), &json!(null), &json!("RATE_LIMITED")]);
    clock.advance(std::time::Duration::from_secs(180));
    let mut socket = Socket::ready(&app).await;
    socket.subscribe("1", "{ hello }").await;
    assert_eq!(
        [
            socket.next().await["type"].clone(),
            socket.next().await["type"].clone()
        ],
        ["next", "complete"]
    );
    socket.subscribe("2", "{ hello }").await;
    assert_eq!(socket.next().await["type"], "error");
}

#[tokio::test]
async fn unknown_paths_are_counted() {
    let clock = Clock::new();
    let limiting = two(&clock).default_limit(RateLimit::requests(1));
    let app = App::serve(options().rate_limiting(limiting)).await;
    assert_eq!(
        [
            get(&app, "/nowhere").await.status,
            get(&app, "/elsewhere").await.status
        ],
        [404, 429]
    );
}

/// Passwords that are tried are counted too.
#[tokio::test]
async fn limits_apply_before_the_development_password() {
    let clock = Clock::new();
    let auth = AuthConfig {
        dev_password: Some("dev-pass-phrase".to_owned()),
        ..AuthConfig::default()
    };
    let options = options().config(SvcConfig {
        auth,
        ..SvcConfig::default()
    });
    let options = options.database_url("postgres://nobody@127.0.0.1:1/nothing");
    let app = App::serve(options.rate_limiting(two(&clock))).await;
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(ask(&app, CLIENT, "{ hello }").await.status);
    }
    assert_eq!(statuses, [401, 401, 429]);
}

#[tokio::test]
async fn limits_can_be_switched_off_and_are_validated() {
    let off = RateLimiting::new().config(config(&[("SVC_RATE_LIMIT_ENABLED", "false")]));
    let app = App::serve(options().rate_limiting(off)).await;
    assert!(
        !ask(&app, CLIENT, "{ hello }")
            .await
            .headers
            .contains_key("x-ratelimit-limit")
    );
    let wrong = RateLimiting::new().rules([RateLimitRule::new("api", RateLimit::requests(1))]);
    let error = svc::create_svc_app(options().rate_limiting(wrong))
        .await
        .map(drop)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the path pattern of a rate limit is \"api\"; it must begin with / or *"
    );
}
