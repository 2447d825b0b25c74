//! The management operations, and log-outs.

use serde_json::{Value, json};
use svc::IdpConfig;
use svc::auth::{
    AuthError, AuthProvider as _, IdpProvider, MemoryRevocationStore, RevocationConfig,
    TokenRevocationService,
};
use svc_tests::App;

use super::super::service::options;
use super::issuer::{Answer, Issuer, Key, invalid, serve, user};

const USER: &str = "/api/v2/users/auth0%7Cada";

async fn issuer() -> (Issuer, IdpProvider) {
    let issuer = Issuer::start().await;
    let config = IdpConfig {
        client_id: Some("service".to_owned()),
        client_secret: Some("hunter2".to_owned()),
        ..issuer.config()
    };
    let provider = config.create_provider().unwrap();
    issuer.answers(
        "/oauth/token",
        Answer::Json(json!({ "access_token": "managing", "expires_in": 3_600 })),
    );
    issuer.answers(
        USER,
        Answer::Json(json!({ "user_id": "auth0|ada", "name": "Ada" })),
    );
    issuer.answers(
        &format!("{USER}/roles"),
        Answer::Json(json!([{ "id": "1", "name": "editor" }])),
    );
    let permissions =
        json!([{ "permission_name": "posts:read" }, { "permission_name": "posts:write" }]);
    issuer.answers(&format!("{USER}/permissions"), Answer::Json(permissions));
    (issuer, provider)
}

#[tokio::test]
async fn a_management_token_is_requested_once() {
    let (issuer, provider) = issuer().await;
    let (first, second) = tokio::join!(
        provider.get_user_profile("auth0|ada", None),
        provider.get_user_roles("auth0|ada", None)
    );
    assert_eq!(
        (first.unwrap()["name"].as_str(), second.unwrap()),
        (Some("Ada"), vec!["editor".to_owned()])
    );
    let permissions = provider
        .get_user_permissions("auth0|ada", None)
        .await
        .unwrap();
    assert_eq!(permissions, ["posts:read", "posts:write"]);
    let [token] = issuer.received("/oauth/token").try_into().unwrap();
    let body: Value = serde_json::from_str(&token.body).unwrap();
    let audience = issuer.url("/api/v2/");
    assert_eq!(
        body,
        json!({
            "grant_type": "client_credentials", "client_id": "service", "client_secret": "hunter2", "audience": audience,
        })
    );
    assert_eq!(
        issuer.received(USER)[0].authorization.as_deref(),
        Some("Bearer managing")
    );
    // A token of the caller's own takes its place.
    provider
        .get_user_profile("auth0|ada", Some("another"))
        .await
        .unwrap();
    assert_eq!(
        issuer.received(USER)[1].authorization.as_deref(),
        Some("Bearer another")
    );
}

#[tokio::test]
async fn an_expiring_management_token_is_requested_again() {
    let (issuer, provider) = issuer().await;
    issuer.answers(
        "/oauth/token",
        Answer::Json(json!({ "access_token": "short", "expires_in": 10 })),
    );
    for asked in 1..3 {
        provider.get_user_profile("auth0|ada", None).await.unwrap();
        assert_eq!(issuer.received("/oauth/token").len(), asked);
    }
}

#[tokio::test]
async fn errors_contain_no_secrets_or_tokens() {
    let (issuer, provider) = issuer().await;
    for fault in [
        Answer::Status(403),
        Answer::Json(json!([])),
        Answer::Redirect("/elsewhere".to_owned()),
    ] {
        issuer.answers("/oauth/token", fault);
        let error = provider
            .get_user_profile("auth0|ada", None)
            .await
            .unwrap_err();
        assert!(
            matches!(error, AuthError::Unavailable(_)) && !format!("{error:?}").contains("hunter2"),
            "{error:?}"
        );
    }
    issuer.answers(
        &format!("{USER}/roles"),
        Answer::Json(json!([{ "name": 7 }])),
    );
    let error = provider
        .get_user_roles("auth0|ada", Some("another"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, AuthError::Unavailable(_)) && !format!("{error:?}").contains("another"),
        "{error:?}"
    );
    let without = issuer.config().create_provider().unwrap();
    let error = without
        .get_user_profile("auth0|ada", None)
        .await
        .unwrap_err();
    assert!(matches!(error, AuthError::NotSupported), "{error:?}");
    assert!(!format!("{provider:?}").contains("hunter2"));
}

/// A full page can be the last one; only the next page shows it.
#[tokio::test]
async fn pages_are_read_until_one_is_not_full() {
    let (issuer, provider) = issuer().await;
    let path = format!("{USER}/roles");
    let full: Vec<_> = (0..100)
        .map(|number| json!({ "name": format!("role {number}") }))
        .collect();
    issuer.answers(&path, Answer::Json(json!(full)));
    let error = provider
        .get_user_roles("auth0|ada", Some("another"))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("more than 5000 entries"),
        "{error}"
    );
    assert_eq!(issuer.received(&path).len(), 50);
    issuer.answers(&path, Answer::Json(json!(full[1..])));
    assert_eq!(
        provider
            .get_user_roles("auth0|ada", Some("another"))
            .await
            .unwrap()
            .len(),
        99
    );
    assert_eq!(issuer.received(&path).len(), 51);
}

/// An identifier is one segment of a path, whatever characters it has.
#[tokio::test]
async fn user_ids_are_encoded_in_the_path() {
    let (issuer, provider) = issuer().await;
    for id in ["../clients", "a/b", "a?b=c", "a#b", "a b"] {
        assert!(
            provider
                .get_user_profile(id, Some("another"))
                .await
                .is_err()
        );
    }
    assert_eq!(issuer.received("/api/v2/clients"), []);
    assert_eq!(issuer.received("/api/v2/users/%2E%2E%2Fclients").len(), 1);
}

#[tokio::test]
async fn log_outs_revoke_tokens() {
    let (issuer, provider) = issuer().await;
    let key = Key::new("a");
    issuer.publishes(&[&key]);
    let revocation =
        TokenRevocationService::new(MemoryRevocationStore::new(), RevocationConfig::default());
    let provider = provider.with_revocation(revocation);
    let app = App::serve(options().auth_provider(provider.clone())).await;
    let held = |id: &str, more: Value| {
        let mut claims = issuer.claims(json!({ "jti": id }));
        claims
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        key.sign(&claims)
    };
    let tokens = ["1", "2", "3"].map(|id| held(id, json!({})));
    for token in &tokens {
        user(&app, token).await.unwrap();
    }
    let claims = provider.validate_token(&tokens[0]).await.unwrap();
    provider.logout(&claims).await.unwrap();
    provider.revoke_token(&tokens[1]).await.unwrap();
    assert_eq!(
        (user(&app, &tokens[0]).await, user(&app, &tokens[1]).await),
        (invalid(), invalid())
    );
    user(&app, &tokens[2]).await.unwrap();
    provider.logout_all_sessions("auth0|ada").await.unwrap();
    assert_eq!(user(&app, &tokens[2]).await, invalid());
    user(&app, &held("4", json!({ "sub": "auth0|eve" })))
        .await
        .unwrap();
    // Without a service of that kind nothing was asked.
    user(&serve(provider.provider().clone()).await, &tokens[2])
        .await
        .unwrap();
}
