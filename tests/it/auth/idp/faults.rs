//! Issuers that do not answer as they should.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use svc_tests::eventually;

use super::super::service::query;
use super::issuer::{Answer, Issuer, KEYS, Key, serve, user};

/// Everything that an issuer may do in place of giving its keys.
fn faults(other: &Issuer) -> Vec<Answer> {
    vec![
        Answer::Status(500),
        Answer::Status(404),
        Answer::Text("<html>".to_owned()),
        Answer::Text(String::new()),
        Answer::Json(json!({ "keys": [] })),
        Answer::Json(json!({ "keys": [{ "kty": "oct", "k": "c2VjcmV0", "alg": "EdDSA" }] })),
        Answer::Json(json!([7])),
        // Ten megabytes.
        Answer::Json(json!({ "keys": [], "padding": "x".repeat(10 << 20) })),
        Answer::Redirect(other.url(KEYS)),
        Answer::Redirect("http://203.0.113.1/keys".to_owned()),
        Answer::Redirect(KEYS.to_owned()),
        Answer::Silence,
    ]
}

/// The redirect to another host would give keys.
async fn willing() -> Issuer {
    let other = Issuer::start().await;
    other.publishes(&[&Key::new("evil")]);
    other
}

#[tokio::test]
async fn cached_keys_are_used_while_a_fetch_fails() {
    let other = willing().await;
    let survive = async |fault: Answer| {
        let (issuer, key) = (Issuer::start().await, Key::new("a"));
        issuer.publishes(&[&key]);
        let mut config = issuer.config();
        config.key_lifetime = Duration::from_secs(1);
        // A failed fetch is not retried during the test.
        config.key_refetch_interval = Duration::from_secs(3_600);
        let app = serve(config.create_provider().unwrap()).await;
        let held = |number: u32| key.sign(&issuer.claims(json!({ "jti": number.to_string() })));
        user(&app, &held(0)).await.unwrap();
        issuer.answers(KEYS, fault);
        let mut number = 0;
        eventually(async || {
            number += 1;
            user(&app, &held(number)).await.unwrap();
            if issuer.received(KEYS).len() > 1 {
                Ok(())
            } else {
                Err("it is not asked again".to_owned())
            }
        })
        .await;
        // It is not asked with each request.
        let asked = issuer.received(KEYS).len();
        for number in 1_000..1_020 {
            user(&app, &held(number)).await.unwrap();
        }
        assert_eq!(issuer.received(KEYS).len(), asked);
    };
    join_all(faults(&other).into_iter().map(survive)).await;
    assert_eq!(other.received(KEYS), []);
}

#[tokio::test]
async fn a_service_without_keys_is_unavailable_until_a_fetch_succeeds() {
    let other = willing().await;
    let recover = async |fault: Answer| {
        let (issuer, key) = (Issuer::start().await, Key::new("a"));
        issuer.answers(KEYS, fault);
        let app = serve(issuer.config().create_provider().unwrap()).await;
        let held = key.sign(&issuer.claims(json!({})));
        let began = Instant::now();
        let reply = query(&app, &held, "{ open }").await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (503, "SERVICE_UNAVAILABLE"),
            "{}",
            reply.text
        );
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{:?}",
            began.elapsed()
        );
        assert_eq!(app.query("{ open }").await.data(), json!({ "open": true }));
        issuer.publishes(&[&key]);
        eventually(async || user(&app, &held).await).await;
    };
    join_all(faults(&other).into_iter().map(recover)).await;
    assert_eq!(other.received(KEYS), []);
}

#[tokio::test]
async fn a_redirect_within_the_host_is_followed() {
    let (issuer, key) = (Issuer::start().await, Key::new("a"));
    issuer.publishes(&[&key]);
    let mut config = issuer.config();
    config.domain = Some(issuer.url("/old"));
    config.issuer = Some(issuer.name());
    issuer.answers(
        "/old/.well-known/jwks.json",
        Answer::Redirect(KEYS.to_owned()),
    );
    let app = serve(config.create_provider().unwrap()).await;
    user(&app, &key.sign(&issuer.claims(json!({}))))
        .await
        .unwrap();
}
