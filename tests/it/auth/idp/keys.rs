//! Keys that come and go.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use svc::{ProtectionConfig, SvcConfig};
use svc_tests::App;

use super::super::service::options_with;
use super::issuer::{Answer, Issuer, KEYS, Key, invalid, serve, user};

#[tokio::test]
async fn rotation_fetches_the_new_key_and_drops_the_old_one() {
    let issuer = Issuer::start().await;
    let (old, new) = (Key::new("old"), Key::new("new"));
    issuer.publishes(&[&old]);
    let app = serve(issuer.config().create_provider().unwrap()).await;
    let held = old.sign(&issuer.claims(json!({})));
    assert_eq!(user(&app, &held).await.unwrap().user_id, "auth0|ada");
    issuer.publishes(&[&new]);
    // Nothing is known of it yet.
    user(&app, &held).await.unwrap();
    user(&app, &new.sign(&issuer.claims(json!({}))))
        .await
        .unwrap();
    assert_eq!(issuer.received(KEYS).len(), 2);
    // It was kept, and is dropped with its key.
    assert_eq!(user(&app, &held).await, invalid());
}

#[tokio::test]
async fn stale_keys_are_refetched() {
    let issuer = Issuer::start().await;
    let (old, new) = (Key::new("same"), Key::new("same"));
    issuer.publishes(&[&old]);
    let mut config = issuer.config();
    config.key_lifetime = Duration::from_secs(1);
    let app = serve(config.create_provider().unwrap()).await;
    let held = old.sign(&issuer.claims(json!({})));
    user(&app, &held).await.unwrap();
    issuer.publishes(&[&new]);
    // Also a token that was kept is verified with the new keys.
    svc_tests::eventually(async || match user(&app, &held).await {
        Err(reason) if reason == "TOKEN_INVALID" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    user(&app, &new.sign(&issuer.claims(json!({}))))
        .await
        .unwrap();
}

#[tokio::test]
async fn without_a_cache_the_keys_are_fetched_for_each_request() {
    let issuer = Issuer::start().await;
    let key = Key::new("a");
    issuer.publishes(&[&key]);
    let mut config = issuer.config();
    config.cache_jwks = false;
    let app = serve(config.create_provider().unwrap()).await;
    let held = key.sign(&issuer.claims(json!({})));
    for fetches in 1..4 {
        user(&app, &held).await.unwrap();
        assert_eq!(issuer.received(KEYS).len(), fetches);
    }
}

/// Requests with invented names of keys cause no further requests to the issuer.
#[tokio::test]
async fn a_thousand_unknown_keys_cause_one_fetch() {
    let issuer = Issuer::start().await;
    let (key, other) = (Key::new("a"), Key::new("b"));
    issuer.publishes(&[&key]);
    let mut config = issuer.config();
    // However long the thousand take, the next fetch is not due.
    config.key_refetch_interval = Duration::from_secs(3_600);
    // Each is verified, be the machine too busy for fifty at a time.
    let protection = ProtectionConfig {
        load_shedding: false,
        ..ProtectionConfig::default()
    };
    let options = options_with(SvcConfig {
        protection,
        ..SvcConfig::default()
    });
    let app = Arc::new(App::serve(options.auth_provider(config.create_provider().unwrap())).await);
    let held = key.sign(&issuer.claims(json!({})));
    user(&app, &held).await.unwrap();
    let claims = issuer.claims(json!({}));
    for lot in 0..20 {
        let asking = (0..50).map(|number| {
            let header = json!({ "alg": "EdDSA", "kid": format!("{lot}-{number}-{}", rand::random::<u64>()) });
            let (app, token) = (app.clone(), other.sign_with(&header, &claims));
            tokio::spawn(async move { user(&app, &token).await })
        });
        for asked in asking.collect::<Vec<_>>() {
            assert_eq!(asked.await.unwrap(), invalid());
        }
    }
    assert_eq!(issuer.received(KEYS).len(), 2);
    user(&app, &held).await.unwrap();
}

/// Twenty requests to a service that has no keys yet.
#[tokio::test]
async fn concurrent_requests_share_one_fetch() {
    let issuer = Issuer::start().await;
    let key = Key::new("a");
    issuer.publishes(&[&key]);
    let app = Arc::new(serve(issuer.config().create_provider().unwrap()).await);
    let asking = (0..20).map(|number| {
        let (app, token) = (
            app.clone(),
            key.sign(&issuer.claims(json!({ "jti": number.to_string() }))),
        );
        tokio::spawn(async move { user(&app, &token).await })
    });
    for asked in asking.collect::<Vec<_>>() {
        asked.await.unwrap().unwrap();
    }
    assert_eq!(issuer.received(KEYS).len(), 1);
}

#[tokio::test]
async fn a_token_without_a_kid_is_tried_with_every_key() {
    let issuer = Issuer::start().await;
    let keys = [Key::new("a"), Key::new("b")];
    issuer.publishes(&keys.each_ref());
    let app = serve(issuer.config().create_provider().unwrap()).await;
    let claims = issuer.claims(json!({}));
    for key in &keys {
        user(&app, &key.sign_with(&json!({ "alg": "EdDSA" }), &claims))
            .await
            .unwrap();
        for bad in [
            json!({ "alg": "EdDSA", "kid": 7 }),
            json!({ "alg": "EdDSA", "kid": null }),
        ] {
            assert_eq!(user(&app, &key.sign_with(&bad, &claims)).await, invalid());
        }
    }
    // A name of another key is not passed over.
    assert_eq!(
        user(
            &app,
            &keys[0].sign_with(&json!({ "alg": "EdDSA", "kid": "b" }), &claims)
        )
        .await,
        invalid()
    );
    assert_eq!(
        user(
            &app,
            &Key::new("c").sign_with(&json!({ "alg": "EdDSA" }), &claims)
        )
        .await,
        invalid()
    );
}

#[tokio::test]
async fn the_discovery_document_locates_the_keys() {
    let issuer = Issuer::start().await;
    let key = Key::new("a");
    issuer.publishes(&[&key]);
    let config = svc::IdpConfig {
        domain: None,
        issuer: Some(issuer.name()),
        ..issuer.config()
    };
    let metadata = |name: String| json!({ "issuer": name, "jwks_uri": issuer.url(KEYS) });
    for (answer, is_good) in [
        (Answer::Json(metadata(issuer.name())), true),
        (Answer::Json(metadata(issuer.url(""))), false),
        (
            Answer::Json(json!({ "issuer": issuer.name(), "jwks_uri": "http://203.0.113.1/keys" })),
            false,
        ),
        (Answer::Json(json!({ "issuer": issuer.name() })), false),
    ] {
        issuer.answers("/.well-known/openid-configuration", answer);
        let app = serve(config.create_provider().unwrap()).await;
        let found = user(&app, &key.sign(&issuer.claims(json!({})))).await;
        let expected = if is_good {
            Ok("auth0|ada".to_owned())
        } else {
            Err("SERVICE_UNAVAILABLE".to_owned())
        };
        assert_eq!(found.map(|user| user.user_id), expected);
    }
}
