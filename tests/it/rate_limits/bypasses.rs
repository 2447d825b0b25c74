//! Ways to pass a limit, none of which does.

use http::Request;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::SvcConfig;
use svc::axum::body::Bytes;
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
use svc_tests::raw::{Client, PATIENCE};
use svc_tests::{App, Reply};

use super::service::{
    Clock, ask, config, flood, limited, options, passing, post, serve, serve_options, wide,
};

const CLIENT: &str = "192.0.2.1";

/// Options whose mutations are limited to two in a minute.
fn two_mutations(clock: &Clock) -> RateLimiting {
    let many = RateLimit::requests(1_000);
    wide(clock).kinds(many, RateLimit::requests(2), many)
}

/// The statuses of requests that are sent one after the other.
async fn statuses(app: &App, bodies: &[Value]) -> Vec<u16> {
    let mut statuses = Vec::new();
    for body in bodies {
        statuses.push(post(app, "/graphql", CLIENT, body).await.status);
    }
    statuses
}

/// The operation that runs is counted, whatever else the document holds and however it is written.
#[tokio::test]
async fn the_operation_that_runs_is_counted() {
    let clock = Clock::new();
    let app = serve(two_mutations(&clock)).await;
    let both = "query Q { hello } mutation M { ping }";
    let bodies = [
        json!({ "query": both, "operationName": "M" }),
        json!({ "query": "# query\n\n ,,, mutation { ping }" }),
        json!({ "query": both, "operationName": "M" }),
        json!({ "query": "\u{feff}# a comment\nmutation{ping}" }),
        json!({ "query": both, "operationName": "Q" }),
    ];
    assert_eq!(statuses(&app, &bodies).await, [200, 200, 429, 429, 200]);
}

#[tokio::test]
async fn a_persisted_document_is_counted_as_its_text() {
    let clock = Clock::new();
    let app = serve(two_mutations(&clock)).await;
    let document = "mutation { ping }";
    let hash = hex::encode(Sha256::digest(document));
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    let bodies = [
        json!({ "query": document, "extensions": extensions }),
        json!({ "extensions": extensions }),
        json!({ "extensions": extensions }),
    ];
    assert_eq!(statuses(&app, &bodies).await, [200, 200, 429]);
}

#[tokio::test]
async fn a_registered_operation_is_counted_as_its_document() {
    let clock = Clock::new();
    let operation = svc::Operation::new("mutation Ping { ping }");
    let app = serve_options(options().operations([operation]), two_mutations(&clock)).await;
    let named = json!({ "documentId": "Ping" });
    assert_eq!(
        statuses(&app, &[named.clone(), named.clone(), named]).await,
        [200, 200, 429]
    );
}

/// GET, POST, QUERY and `/graphql/rust` are one endpoint.
#[tokio::test]
async fn all_methods_and_the_rust_endpoint_share_one_limit() {
    let clock = Clock::new();
    let mut settings = SvcConfig::default();
    settings.operations.rust_endpoint = true;
    let options = options()
        .config(settings)
        .database_url("postgres://nobody@127.0.0.1:1/nothing");
    let app = serve_options(options, limited(&clock, RateLimit::requests(4))).await;
    let get = || {
        app.send(
            app.request("GET", "/graphql?query={hello}")
                .header("x-forwarded-for", CLIENT),
        )
    };
    let query = || {
        let request = app
            .request("QUERY", "/graphql")
            .header("x-forwarded-for", CLIENT)
            .header("content-type", "application/json");
        app.send(request.body(r#"{"query":"{ hello }"}"#))
    };
    assert_eq!(get().await.status, 200);
    assert_eq!(query().await.status, 200);
    assert_eq!(ask(&app, CLIENT, "{ hello }").await.status, 200);
    // It refuses what needs a function, and counts it.
    assert_eq!(
        post(
            &app,
            "/graphql/rust",
            CLIENT,
            &json!({ "query": "{ hello }" })
        )
        .await
        .code(),
        "BAD_REQUEST"
    );
    assert_eq!(
        [
            get().await.status,
            query().await.status,
            ask(&app, CLIENT, "{ hello }").await.status
        ],
        [429, 429, 429]
    );
    assert_eq!(
        post(
            &app,
            "/graphql/rust",
            CLIENT,
            &json!({ "query": "{ hello }" })
        )
        .await
        .status,
        429
    );
}

/// A path that is written in another way is not answered by the endpoint, or is counted with it.
#[tokio::test]
async fn spellings_of_a_path_are_one() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(2))).await;
    assert_eq!(flood(&app, CLIENT, "{ hello }", 2).await, 2);
    let body = json!({ "query": "{ hello }" });
    for path in [
        "/graphql",
        "//graphql",
        "/graphql/",
        "/%67raphql",
        "/%2567raphql",
        "/GraphQL",
        "/graphql?x=1",
        "/graphql%2f",
        "/graphql\\",
        "/%2e/graphql",
    ] {
        assert_eq!(post(&app, path, CLIENT, &body).await.status, 429, "{path}");
    }
    // Other clients would resolve these before they send them.
    for path in [
        "/x/../graphql",
        "/./graphql",
        "/graphql/.",
        "/graphql/../graphql",
        "/x/%2e%2e/graphql",
    ] {
        assert_eq!(raw_status(&app, path).await, 429, "{path}");
    }
}

/// The status of a request whose path is sent as it is.
async fn raw_status(app: &App, path: &str) -> u16 {
    let mut client = Client::open(app.address()).await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: {CLIENT}\r\ncontent-length: 0\r\n\r\n"
    );
    client.send(&head).await;
    client
        .answer()
        .await
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

/// The paths of probes are free as they stand, and not what resolves to one of them.
#[tokio::test]
async fn paths_that_resolve_to_a_probe_are_limited() {
    let clock = Clock::new();
    let app =
        serve(limited(&clock, RateLimit::requests(1_000)).default_limit(RateLimit::requests(2)))
            .await;
    let spellings = [
        "/any/x/../../health",
        "/any/%2e%2e/health",
        "//health",
        "/HEALTH",
        "/ready/",
        "/any/../metrics",
    ];
    let mut statuses = Vec::new();
    for path in spellings {
        statuses.push(raw_status(&app, path).await);
    }
    assert_eq!(statuses, [200, 200, 429, 429, 429, 429]);
}

#[tokio::test]
async fn headers_that_override_the_method_change_nothing() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(1))).await;
    assert_eq!(ask(&app, CLIENT, "{ hello }").await.status, 200);
    for name in [
        "x-http-method-override",
        "x-method-override",
        "x-http-method",
        "x-original-url",
        "x-rewrite-url",
    ] {
        for value in ["GET", "OPTIONS", "/health"] {
            let request = app
                .request("POST", "/graphql")
                .header("x-forwarded-for", CLIENT)
                .header(name, value);
            let reply = app
                .send(
                    request
                        .header("content-type", "application/json")
                        .body("{\"query\":\"{ hello }\"}"),
                )
                .await;
            assert_eq!(reply.status, 429, "{name}: {value}");
        }
    }
}

/// Headers count from the proxies that are named alone, and from the right.
#[tokio::test]
async fn forged_headers_of_proxies_are_not_believed() {
    let clock = Clock::new();
    let serve_with = async |settings: &[(&str, &str)]| {
        serve(limited(&clock, RateLimit::requests(2)).config(config(settings))).await
    };
    let send = async |app: &App, headers: &[(&str, String)]| -> Reply {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, value)
        });
        app.send(request.body("{\"query\":\"{ hello }\"}")).await
    };
    // The peer is no proxy: what it says of itself is nothing.
    for trusted in ["none", "192.0.2.0/24"] {
        let app = serve_with(&[("SVC_TRUSTED_PROXIES", trusted)]).await;
        let mut passed = 0;
        for number in 0..6 {
            let address = format!("198.51.100.{number}");
            let headers = [
                ("x-forwarded-for", address.clone()),
                ("x-real-ip", address.clone()),
                ("forwarded", format!("for={address}")),
            ];
            passed += usize::from(send(&app, &headers).await.status == 200);
        }
        assert_eq!(passed, 2, "{trusted}");
    }
    // The peer is a proxy, which appends; what the client has sent stands to the left.
    let named = [
        ("x-forwarded-for", "x-forwarded-for", ""),
        ("forwarded", "forwarded", "for="),
    ];
    for (setting, header, before) in named {
        let app = serve_with(&[
            ("SVC_TRUSTED_PROXIES", "127.0.0.0/8, 10.0.0.0/8"),
            ("SVC_FORWARDED_HEADER", setting),
        ])
        .await;
        let mut passed = 0;
        for number in 0..6 {
            let forged =
                format!("{before}198.51.100.{number}, {before}203.0.113.5, {before}10.0.0.7");
            let other = if setting == "forwarded" {
                "x-forwarded-for"
            } else {
                "forwarded"
            };
            let headers = [
                (header, forged),
                (other, format!("for=198.51.100.{number}")),
                ("x-real-ip", format!("198.51.100.{number}")),
            ];
            passed += usize::from(send(&app, &headers).await.status == 200);
        }
        assert_eq!(passed, 2, "{setting}");
        let other = send(&app, &[(header, format!("{before}203.0.113.6"))]).await;
        assert_eq!(other.status, 200, "{setting}");
        // What cannot be read names nobody: the proxy that has sent it counts.
        for garbage in ["", "unknown", "1.2.3", "\"", "for=\"203.0.113.7"] {
            send(
                &app,
                &[(header, format!("{before}198.51.100.1, {garbage}"))],
            )
            .await;
        }
        assert_eq!(
            send(&app, &[(header, "garbage".to_owned())]).await.status,
            429,
            "{setting}"
        );
    }
}

/// A client of IPv6 has many addresses in its network.
#[tokio::test]
async fn addresses_of_one_ipv6_network_share_a_limit() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(2))).await;
    let addresses: Vec<_> = (0..20)
        .map(|number| format!("2001:db8:1:2:{number:x}::{number:x}"))
        .collect();
    assert_eq!(
        passing(
            addresses
                .iter()
                .map(|address| ask(&app, address, "{ hello }"))
        )
        .await,
        2
    );
}

/// Requests that share a connection are counted one by one.
#[tokio::test]
async fn streams_of_http2_are_counted_one_by_one() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(5))).await;
    let stream = tokio::net::TcpStream::connect(app.address()).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let mut client = client.ready().await.unwrap();
    let mut answers = Vec::new();
    for _ in 0..20 {
        let request = Request::post("http://x/graphql")
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        let (answer, mut body) = client.send_request(request, false).unwrap();
        body.send_data(Bytes::from_static(b"{\"query\":\"{ hello }\"}"), true)
            .unwrap();
        answers.push(answer);
        client = client.ready().await.unwrap();
    }
    let statuses = tokio::time::timeout(PATIENCE, futures_util::future::join_all(answers)).await;
    let passed = statuses
        .expect("not all answers in time")
        .into_iter()
        .filter(|answer| answer.as_ref().unwrap().status() == 200)
        .count();
    assert_eq!(passed, 5);
}

/// One who is refused for a document is counted for the path all the same, so that guessing is not
/// free.
#[tokio::test]
async fn documents_that_cannot_run_are_counted() {
    let clock = Clock::new();
    let rule = RateLimitRule::new("/graphql/*", RateLimit::requests(4));
    let app = serve(two_mutations(&clock).rules([rule])).await;
    let bodies = ["{", "{ nothing }", "mutation { nothing }", "", "{ hello }"]
        .map(|query| json!({ "query": query }));
    assert_eq!(statuses(&app, &bodies).await[4], 429);
}
