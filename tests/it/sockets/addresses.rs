//! The number of sockets and streams that anonymous clients may have at one address.

use serde_json::json;
use svc::rate_limit::RateLimitConfig;
use svc::testing::TestService;
use svc::{SubscriptionsConfig, SvcConfig};
use svc_tests::{App, Events, Log, Socket, eventually};

use super::service::{Watched, nowhere, options};
use crate::auth::service::provider;
use crate::auth::token;

const OURS: (&str, &str) = ("sec-websocket-protocol", "graphql-transport-ws");
const ADA: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A service in which an address has so many connections.
async fn serve(most: u32, proxies: Option<&str>) -> (App, Watched) {
    let watched = Watched::new();
    let config = SvcConfig {
        subscriptions: SubscriptionsConfig {
            max_connections_per_address: most,
            ..SubscriptionsConfig::default()
        },
        rate_limit: RateLimitConfig {
            trusted_proxies: proxies.map(|proxies| proxies.parse().unwrap()),
            ..RateLimitConfig::default()
        },
        database: nowhere(),
        ..SvcConfig::default()
    };
    (
        App::serve(options(&watched).config(config).auth_provider(provider())).await,
        watched,
    )
}

/// The status of a stream that a client at an address asks for, and the stream.
async fn stream(app: &App, headers: &[(&str, &str)]) -> Events {
    let request = app
        .request("GET", "/graphql?query=subscription{forever}")
        .header("accept", "text/event-stream");
    Events::of(headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    }))
    .await
}

/// The status of a socket that a client at an address asks for.
async fn refused(app: &App, headers: &[(&'static str, &str)]) -> u16 {
    Socket::upgrade(app, &[&[OURS], headers].concat())
        .await
        .map(drop)
        .unwrap_err()
}

fn token_of_ada() -> String {
    format!(
        "Bearer {}",
        token(json!({ "sub": ADA, "jti": ADA, "sid": "s" }))
    )
}

#[tokio::test]
async fn anonymous_connections_per_address_are_bounded() {
    let (app, watched) = serve(2, Some("none")).await;
    let first = Socket::ready(&app).await;
    let mut second = stream(&app, &[]).await;
    second.until("event: next").await;
    assert_eq!(refused(&app, &[]).await, 429);
    // Nobody has another address by saying so.
    assert_eq!(
        refused(&app, &[("x-forwarded-for", "192.0.2.1")]).await,
        429
    );
    let third = stream(&app, &[]).await;
    assert_eq!(third.status, 429);
    assert!(
        third
            .whole()
            .await
            .contains("clients at this address who are not logged in")
    );
    drop((first, second));
    watched.until_streams(0).await;
    for _ in 0..2 {
        eventually(async || match Socket::upgrade(&app, &[OURS]).await {
            Ok(_) => Ok(()),
            Err(status) => Err(status.to_string()),
        })
        .await;
    }
}

/// A socket counts for its address until its user is known.
#[tokio::test]
async fn authenticated_users_do_not_count_towards_their_address() {
    let (app, _) = serve(1, None).await;
    let held = token_of_ada();
    let _streams = [
        stream(&app, &[("authorization", &held)]).await.status,
        stream(&app, &[("authorization", &held)]).await.status,
    ];
    assert_eq!(_streams, [200, 200]);
    let mut sockets = Vec::new();
    for _ in 0..3 {
        sockets.push(Socket::ready_with(&app, json!({ "authorization": held })).await);
    }
    let anonymous = Socket::open(&app).await;
    assert_eq!(
        refused(&app, &[("authorization", &held)]).await,
        429,
        "it is not known yet who this is"
    );
    drop(anonymous);
    eventually(async || match Socket::upgrade(&app, &[OURS]).await {
        Ok(_) => Ok(()),
        Err(status) => Err(status.to_string()),
    })
    .await;
}

/// An address is that of rate limits: of clients of trusted proxies, of networks of IPv6.
#[tokio::test]
async fn addresses_are_those_of_rate_limits() {
    for proxies in [None, Some("127.0.0.1")] {
        let (app, _) = serve(1, proxies).await;
        let mut open = Vec::new();
        for address in ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"] {
            open.push(
                Socket::upgrade(&app, &[OURS, ("x-forwarded-for", address)])
                    .await
                    .map_err(|_| address),
            );
        }
        assert!(open.iter().all(Result::is_ok), "{proxies:?}");
        for address in ["192.0.2.1", "::ffff:192.0.2.2", "2001:db8::2"] {
            assert_eq!(
                refused(&app, &[("x-forwarded-for", address)]).await,
                429,
                "{address} {proxies:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_bound_of_zero_allows_any_number_per_address() {
    let (app, _) = serve(0, Some("none")).await;
    let mut open = Vec::new();
    for _ in 0..250 {
        open.push(Socket::open(&app).await);
    }
    assert_eq!(open.len(), 250);
    let (app, _) = serve(
        SubscriptionsConfig::default().max_connections_per_address,
        Some("none"),
    )
    .await;
    let mut open = Vec::new();
    for _ in 0..200 {
        open.push(Socket::open(&app).await);
    }
    assert_eq!((open.len(), refused(&app, &[]).await), (200, 429));
}

/// Where there is such a bound, and no setting says which proxies write the headers.
#[tokio::test]
async fn the_start_warns_where_clients_can_forge_their_address() {
    for (most, proxies, is_said) in [
        (200, None, true),
        (200, Some("none"), false),
        (200, Some("10.0.0.0/8"), false),
        (0, None, false),
    ] {
        let log = Log::start();
        drop(serve(most, proxies).await);
        let line = "bypass the limit of sockets per address";
        assert_eq!(
            log.text().contains(line),
            is_said,
            "{most} {proxies:?}: {}",
            log.text()
        );
    }
}

/// A test program creates a service in each of its tests.
#[tokio::test]
async fn services_of_tests_do_not_warn_of_forged_addresses() {
    let log = Log::start();
    let options = options(&Watched::new());
    drop(TestService::start(options).await.unwrap());
    let text = log.text();
    assert!(!text.contains("clients can claim any address"), "{text}");
}
