//! Opaque tokens, about which their issuer is asked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use svc::auth::{AuthProvider, IntrospectionProvider};
use svc::{SubscriptionsConfig, SvcConfig};
use svc_tests::{App, Socket};

use super::super::service::{options, options_with, query};
use super::super::token::now;
use super::issuer::{Answer, Issuer, invalid, user};

const PATH: &str = "/introspect";

fn provider(issuer: &Issuer) -> IntrospectionProvider {
    let provider = IntrospectionProvider::new(&issuer.url(PATH), "shop:1", "hunter 2").unwrap();
    provider
        .issuer(issuer.name())
        .audience("shop")
        .required_scope("orders")
}

fn active(issuer: &Issuer, more: Value) -> Answer {
    let mut answer = json!({
        "active": true, "sub": "ada", "scope": "openid orders", "iss": issuer.name(), "aud": "shop",
        "exp": now() + 3_600, "token_type": "Bearer",
    });
    answer
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    answer
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    Answer::Json(answer)
}

#[tokio::test]
async fn introspection_identifies_the_user() {
    let issuer = Issuer::start().await;
    issuer.answers(PATH, active(&issuer, json!({ "tenant": "acme" })));
    let app = App::serve(options().auth_provider(provider(&issuer))).await;
    for _ in 0..3 {
        let user = user(&app, "opaque+/=").await.unwrap();
        assert_eq!((user.user_id.as_str(), user.permissions.len()), ("ada", 2));
        assert_eq!(user.metadata["tenant"], "acme");
    }
    let [asked] = issuer.received(PATH).try_into().unwrap();
    assert_eq!(
        asked.body,
        "token=opaque%2B%2F%3D&token_type_hint=access_token"
    );
    // RFC 6749, section 2.3.1: both are encoded before they are joined.
    assert_eq!(
        asked.authorization.as_deref(),
        Some("Basic c2hvcCUzQTE6aHVudGVyKzI=")
    );
    assert_eq!(user(&app, "another").await.unwrap().user_id, "ada");
    assert_eq!(issuer.received(PATH).len(), 2);
}

#[tokio::test]
async fn introspected_tokens_with_wrong_claims_are_refused() {
    let issuer = Issuer::start().await;
    let app = App::serve(options().auth_provider(provider(&issuer))).await;
    for (number, more) in [
        json!({ "active": false }),
        json!({ "sub": null }),
        json!({ "iss": "https://evil.example/" }),
        json!({ "iss": null }),
        json!({ "aud": ["other"] }),
        json!({ "aud": null }),
        json!({ "scope": "orders:read" }),
        json!({ "scope": null }),
        json!({ "nbf": now() + 60 }),
        json!({ "exp": "soon" }),
        json!({ "cnf": { "jkt": "x" } }),
        json!({ "token_type": "DPoP" }),
        json!({ "token_type": 7 }),
    ]
    .into_iter()
    .enumerate()
    {
        issuer.answers(PATH, active(&issuer, more.clone()));
        assert_eq!(
            user(&app, &format!("opaque{number}")).await,
            invalid(),
            "{more}"
        );
    }
    issuer.answers(PATH, active(&issuer, json!({ "exp": now() - 1 })));
    assert_eq!(user(&app, "expired").await, Err("TOKEN_EXPIRED".to_owned()));
    issuer.answers(
        PATH,
        active(
            &issuer,
            json!({ "exp": null, "sub": null, "username": "ada" }),
        ),
    );
    assert_eq!(user(&app, "good").await.unwrap().user_id, "ada");
}

#[tokio::test]
async fn tokens_are_unavailable_while_introspection_fails() {
    let issuer = Issuer::start().await;
    let app = App::serve(options().auth_provider(provider(&issuer))).await;
    for fault in [
        Answer::Status(401),
        Answer::Status(500),
        Answer::Text("nonsense".to_owned()),
        Answer::Json(json!([])),
        Answer::Json(json!({ "active": "true" })),
        Answer::Redirect("/elsewhere".to_owned()),
        Answer::Silence,
    ] {
        issuer.answers(PATH, fault);
        let reply = query(&app, "opaque", "{ open }").await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (503, "SERVICE_UNAVAILABLE")
        );
    }
    assert_eq!(issuer.received("/elsewhere"), []);
    issuer.answers(PATH, active(&issuer, json!({})));
    user(&app, "opaque").await.unwrap();
}

#[tokio::test]
async fn an_introspection_response_is_cached_for_the_configured_time() {
    let issuer = Issuer::start().await;
    issuer.answers(PATH, active(&issuer, json!({})));
    let never =
        App::serve(options().auth_provider(provider(&issuer).keep_for(Duration::ZERO))).await;
    for asked in 1..4 {
        user(&never, "opaque").await.unwrap();
        assert_eq!(issuer.received(PATH).len(), asked);
    }
    let short = Arc::new(
        App::serve(options().auth_provider(provider(&issuer).keep_for(Duration::from_secs(1))))
            .await,
    );
    user(&short, "opaque").await.unwrap();
    issuer.answers(PATH, active(&issuer, json!({ "active": false })));
    svc_tests::eventually(async || match user(&short, "opaque").await {
        Err(reason) if reason == "TOKEN_INVALID" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

/// The issuer is asked again while a socket is open.
#[tokio::test]
async fn an_opaque_token_that_is_revoked_closes_its_socket() {
    let issuer = Issuer::start().await;
    issuer.answers(PATH, active(&issuer, json!({})));
    let config = SvcConfig {
        subscriptions: SubscriptionsConfig {
            user_interval: Duration::from_millis(200),
            ..SubscriptionsConfig::default()
        },
        ..SvcConfig::default()
    };
    let provider = provider(&issuer).keep_for(Duration::from_millis(100));
    let app = App::serve(options_with(config).auth_provider(provider)).await;
    let mut socket = Socket::ready_with(&app, json!({ "authorization": "Bearer opaque" })).await;
    socket.subscribe("1", "{ user_id }").await;
    assert_eq!(socket.next().await["payload"]["data"]["user_id"], "ada");
    issuer.answers(PATH, active(&issuer, json!({ "active": false })));
    assert_eq!(
        socket.closed().await,
        (4403, "the token is not valid".to_owned())
    );
}

/// A program can call the provider itself.
#[tokio::test]
async fn introspection_works_without_a_request() {
    let issuer = Issuer::start().await;
    issuer.answers(PATH, active(&issuer, json!({})));
    let provider = provider(&issuer);
    assert_eq!(
        provider.validate_token("opaque").await.unwrap().get("sub"),
        Some(&json!("ada"))
    );
    assert_eq!(
        provider
            .get_user_from_token("opaque")
            .await
            .unwrap()
            .user_id,
        "ada"
    );
    issuer.answers(PATH, Answer::Json(json!({ "active": false })));
    assert!(provider.validate_token("opaque").await.is_err());
    assert!(provider.get_user_from_token("opaque").await.is_err());
}

#[test]
fn introspection_without_an_audience_or_scope_is_a_weakness() {
    let of = |url: &str| IntrospectionProvider::new(url, "shop", "hunter2").unwrap();
    let weakness =
        |provider: IntrospectionProvider| AuthProvider::weakness(&provider).unwrap_or_default();
    let https = "https://id.example/introspect";
    assert!(weakness(of(https)).contains("whoever they are for"));
    assert_eq!(weakness(of(https).audience("shop")), "");
    assert_eq!(weakness(of(https).required_scope("orders")), "");
    assert_eq!(
        weakness(of(https).audience("shop").required_scope("orders")),
        ""
    );
    assert!(weakness(of("http://127.0.0.1/introspect").audience("shop")).contains("over http"));
}
