//! Clients: by user, by address, by a key of the program; and the lists.

use std::time::Duration;

use serde_json::json;
use svc::rate_limit::{RateLimit, RateLimitRule};
use svc_tests::{App, Log, is_alone};

use super::service::{Clock, ask, config, limited, serve, wide};

const TWO: RateLimit = RateLimit::requests(2).per_minute();

async fn with(app: &App, headers: &[(&str, &str)]) -> u16 {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    app.send(request.body(json!({ "query": "{ hello }" }).to_string()))
        .await
        .status
}

#[tokio::test]
async fn users_are_counted_across_addresses() {
    let clock = Clock::new();
    let app = serve(limited(&clock, TWO)).await;
    assert_eq!(
        with(&app, &[("x-user", "ada"), ("x-forwarded-for", "192.0.2.1")]).await,
        200
    );
    assert_eq!(
        with(&app, &[("x-user", "ada"), ("x-forwarded-for", "192.0.2.2")]).await,
        200
    );
    assert_eq!(
        with(&app, &[("x-user", "ada"), ("x-forwarded-for", "192.0.2.3")]).await,
        429
    );
    assert_eq!(
        with(&app, &[("x-user", "bob"), ("x-forwarded-for", "192.0.2.3")]).await,
        200
    );
    // A user named as an address is not that address.
    assert_eq!(with(&app, &[("x-forwarded-for", "192.0.2.1")]).await, 200);
}

/// The first entry of `X-Forwarded-For`, else `X-Real-IP`, else the peer.
#[tokio::test]
async fn an_address_is_named_by_headers_or_the_peer() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(1).per_minute())).await;
    for headers in [
        vec![("x-forwarded-for", "192.0.2.1, 192.0.2.2")],
        vec![
            ("x-forwarded-for", "192.0.2.2:4711"),
            ("x-real-ip", "192.0.2.1"),
        ],
        vec![("x-real-ip", "192.0.2.3")],
        vec![("x-forwarded-for", "unknown"), ("x-real-ip", "192.0.2.4")],
        vec![],
    ] {
        assert_eq!(
            [with(&app, &headers).await, with(&app, &headers).await],
            [200, 429],
            "{headers:?}"
        );
    }
    assert_eq!(with(&app, &[("x-real-ip", "192.0.2.1")]).await, 429);
    assert_eq!(with(&app, &[("x-forwarded-for", "127.0.0.1")]).await, 429);
}

#[tokio::test]
async fn the_program_may_name_clients() {
    let clock = Clock::new();
    let limiting = limited(&clock, TWO).key(|request| {
        let key = request.headers.get("x-api-key")?.to_str().ok()?;
        assert_ne!(key, "broken", "this key is wrong");
        Some(key.to_owned())
    });
    let app = serve(limiting).await;
    for status in [200, 200, 429] {
        assert_eq!(
            with(
                &app,
                &[("x-api-key", "acme"), ("x-user", &format!("user {status}"))]
            )
            .await,
            status
        );
    }
    assert_eq!(with(&app, &[("x-api-key", "initech")]).await, 200);
    // Where the function says nothing, or panics, the user or the address counts.
    for status in [200, 200, 429] {
        assert_eq!(
            with(
                &app,
                &[("x-api-key", "broken"), ("x-forwarded-for", "192.0.2.1")]
            )
            .await,
            status
        );
    }
}

#[tokio::test]
async fn lists_name_addresses_networks_and_keys() {
    let clock = Clock::new();
    let settings = config(&[
        (
            "SVC_RATE_LIMIT_WHITELIST",
            "10.0.0.0/8, 2001:db8::/32, user:root, 198.51.100.7",
        ),
        (
            "SVC_RATE_LIMIT_BLACKLIST",
            "10.6.6.6, user:mallory, key:leaked",
        ),
        ("SVC_TRUSTED_PROXIES", "127.0.0.1"),
    ]);
    let limiting = limited(&clock, TWO)
        .rule(RateLimitRule::new("/other", TWO))
        .config(settings)
        .key(|request| {
            request
                .headers
                .get("x-api-key")?
                .to_str()
                .ok()
                .map(str::to_owned)
        });
    let app = serve(limiting).await;
    for free in [
        ("x-forwarded-for", "10.1.2.3"),
        ("x-forwarded-for", "2001:db8::1"),
        ("x-user", "root"),
        ("x-forwarded-for", "::ffff:198.51.100.7"),
    ] {
        for _ in 0..4 {
            assert_eq!(with(&app, &[free]).await, 200, "{free:?}");
        }
    }
    for refused in [
        ("x-forwarded-for", "10.6.6.6"),
        ("x-user", "mallory"),
        ("x-api-key", "leaked"),
    ] {
        assert_eq!(with(&app, &[refused]).await, 403, "{refused:?}");
        let other = app
            .send(app.request("GET", "/other").header(refused.0, refused.1))
            .await;
        let message = "requests of this client are not answered";
        let expected = json!({ "error": "Forbidden", "message": message, "retry_after": null });
        assert_eq!((other.status, other.json()), (403, expected), "{refused:?}");
    }
    assert_eq!(ask(&app, "mallory", "{ hello }").await.code(), "FORBIDDEN");
    // GraphQL answers in its own form, whatever the list names the client by.
    for refused in [
        ("x-forwarded-for", "10.6.6.6"),
        ("x-user", "mallory"),
        ("x-api-key", "leaked"),
    ] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let answer = app
            .send(
                request
                    .header(refused.0, refused.1)
                    .body(r#"{"query":"{ hello }"}"#),
            )
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "FORBIDDEN"),
            "{refused:?}"
        );
    }
    let statuses = [
        with(&app, &[]).await,
        with(&app, &[]).await,
        with(&app, &[]).await,
    ];
    assert_eq!(statuses, [200, 200, 429]);
}

/// Any client can send these headers where no proxy is trusted: the address that one names is on no
/// whitelist, nor is that of the other end, which may be a proxy's.
#[tokio::test]
async fn an_untrusted_address_matches_no_whitelist() {
    let whitelist = ("SVC_RATE_LIMIT_WHITELIST", "10.0.0.0/8, 127.0.0.1");
    let clock = Clock::new();
    let app = serve(limited(&clock, TWO).config(config(&[whitelist]))).await;
    for (forged, statuses) in [
        (vec![("x-forwarded-for", "10.1.2.3")], [200, 200, 429]),
        (vec![("x-real-ip", "10.1.2.4")], [200, 200, 429]),
        (vec![("x-forwarded-for", "127.0.0.1")], [200, 200, 429]),
        // The address that is counted is the peer's, and it was counted above.
        (vec![("x-forwarded-for", "unknown")], [429, 429, 429]),
        (vec![("forwarded", "for=10.1.2.5")], [429, 429, 429]),
        // One that names nobody comes from the other end itself.
        (vec![], [200, 200, 200]),
    ] {
        let found = [
            with(&app, &forged).await,
            with(&app, &forged).await,
            with(&app, &forged).await,
        ];
        assert_eq!(found, statuses, "{forged:?}");
    }
    // Where the proxies are known to be others, or none, the header counts for nothing.
    for proxies in ["none", "192.0.2.0/24"] {
        let settings = config(&[
            ("SVC_RATE_LIMIT_WHITELIST", "10.0.0.0/8"),
            ("SVC_TRUSTED_PROXIES", proxies),
        ]);
        let app = serve(limited(&clock, TWO).config(settings)).await;
        let forged = [("x-forwarded-for", "10.1.2.3")];
        let found = [
            with(&app, &forged).await,
            with(&app, &forged).await,
            with(&app, &forged).await,
        ];
        assert_eq!(found, [200, 200, 429], "{proxies}");
    }
}

/// A client on the blacklist does not leave it by naming another address.
#[tokio::test]
async fn an_untrusted_address_does_not_evade_the_blacklist() {
    let clock = Clock::new();
    let app =
        serve(limited(&clock, TWO).config(config(&[("SVC_RATE_LIMIT_BLACKLIST", "127.0.0.0/8")])))
            .await;
    for headers in [
        vec![],
        vec![("x-forwarded-for", "192.0.2.1")],
        vec![("x-real-ip", "192.0.2.1")],
    ] {
        assert_eq!(with(&app, &headers).await, 403, "{headers:?}");
    }
    // A trusted proxy is not its clients.
    let settings = config(&[
        ("SVC_RATE_LIMIT_BLACKLIST", "127.0.0.0/8"),
        ("SVC_TRUSTED_PROXIES", "127.0.0.1"),
    ]);
    let app = serve(limited(&clock, TWO).config(settings)).await;
    assert_eq!(with(&app, &[("x-forwarded-for", "192.0.2.1")]).await, 200);
}

/// IPv4 in the form of IPv6 is IPv4, and an IPv6 client is its network of 64 bits, unless another
/// size is set.
#[tokio::test]
async fn forms_of_an_address_are_one_client() {
    let clock = Clock::new();
    let one = RateLimit::requests(1).per_minute();
    let app = serve(limited(&clock, one)).await;
    let narrow =
        serve(limited(&clock, one).config(config(&[("SVC_RATE_LIMIT_IPV6_PREFIX", "128")]))).await;
    let pairs = [
        ("192.0.2.9", "::ffff:192.0.2.9", 429, 429),
        ("2001:db8::1", "2001:db8:0:0:0:0:0:1", 429, 429),
        ("[2001:db8:7::1]:4711", "2001:DB8:7::2", 429, 200),
        ("2001:db8:8:1::1", "2001:db8:8:2::1", 200, 200),
    ];
    for (first, second, by_network, by_address) in pairs {
        for (app, expected) in [(&app, by_network), (&narrow, by_address)] {
            assert_eq!(
                with(app, &[("x-forwarded-for", first)]).await,
                200,
                "{first}"
            );
            assert_eq!(
                with(app, &[("x-forwarded-for", second)]).await,
                expected,
                "{second}"
            );
        }
    }
}

/// Each violation is an event, with what is known of the client, and without its keys.
#[tokio::test]
async fn violations_are_logged() {
    // The log shows only the first violations of a minute, which those of other tests would use up.
    if !is_alone(module_path!(), "violations_are_logged") {
        return;
    }
    let log = Log::start();
    let clock = Clock::new();
    let one = RateLimit::requests(1).per_minute();
    let limiting =
        limited(&clock, RateLimit::requests(50)).kinds(RateLimit::requests(50), one, one);
    let app = serve(limiting.rule(RateLimitRule::new("/other", one))).await;
    for _ in 0..2 {
        ask(&app, "ada", "mutation Pinging { ping }").await;
    }
    log.has("rate_limit.exceeded").await;
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("rate_limit.exceeded"))
        .unwrap();
    for part in [
        "svc::security",
        "ip_address=127.0.0.1",
        "resource=\"/graphql\"",
        "\"limit\":1,",
        "\"window\":60,",
        "user_id=\"ada\"",
        "\"operation_type\":\"mutation\"",
        "\"operation_name\":\"Pinging\"",
    ] {
        assert!(line.contains(part), "{part} is missing in {line}");
    }
    for _ in 0..2 {
        app.send(
            app.request("GET", "/other")
                .header("x-forwarded-for", "192.0.2.1"),
        )
        .await;
    }
    log.has("resource=\"/other\"").await;
}

/// A client counted as a user can still be refused by address; a limit ends, a list does not.
#[tokio::test]
async fn a_list_does_not_end_with_a_window() {
    let clock = Clock::new();
    let app =
        serve(wide(&clock).config(config(&[("SVC_RATE_LIMIT_BLACKLIST", "192.0.2.1")]))).await;
    for _ in 0..3 {
        assert_eq!(
            with(&app, &[("x-user", "ada"), ("x-forwarded-for", "192.0.2.1")]).await,
            403
        );
        clock.advance(Duration::from_secs(3_600));
    }
}
