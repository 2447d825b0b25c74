//! Providers that a program asks itself, with revocation and without.

use serde_json::json;
use svc::auth::{
    AuthProvider, IdpProvider, MemoryRevocationStore, RevocationConfig, TokenRevocationService,
};

use super::issuer::{Issuer, Key};

fn revocation() -> TokenRevocationService {
    TokenRevocationService::new(MemoryRevocationStore::new(), RevocationConfig::default())
}

async fn verifies(provider: impl AuthProvider, issuer: &Issuer, key: &Key) {
    let (held, forged) = (
        key.sign(&issuer.claims(json!({}))),
        Key::new("a").sign(&issuer.claims(json!({}))),
    );
    assert_eq!(
        provider.validate_token(&held).await.unwrap().get("sub"),
        Some(&json!("auth0|ada"))
    );
    assert_eq!(
        provider.get_user_from_token(&held).await.unwrap().user_id,
        "auth0|ada"
    );
    assert!(provider.validate_token(&forged).await.is_err());
    assert!(provider.get_user_from_token(&forged).await.is_err());
    let before = provider.key_generation();
    let new = Key::new("new");
    issuer.publishes(&[&new]);
    provider
        .validate_token(&new.sign(&issuer.claims(json!({}))))
        .await
        .unwrap();
    assert_ne!(provider.key_generation(), before, "its keys have changed");
    assert!(provider.validate_token(&held).await.is_err());
}

#[tokio::test]
async fn a_token_is_verified_without_a_request() {
    let (issuer, key) = (Issuer::start().await, Key::new("a"));
    issuer.publishes(&[&key]);
    verifies(issuer.config().create_provider().unwrap(), &issuer, &key).await;
    issuer.publishes(&[&key]);
    verifies(
        issuer
            .config()
            .create_provider()
            .unwrap()
            .with_revocation(revocation()),
        &issuer,
        &key,
    )
    .await;
}

#[tokio::test]
async fn fetching_keys_over_http_is_a_weakness() {
    let provider = || IdpProvider::new("acme.eu.auth0.com", "https://api.acme.example").unwrap();
    assert_eq!(AuthProvider::weakness(&provider()), None);
    assert_eq!(
        AuthProvider::weakness(&provider().with_revocation(revocation())),
        None
    );
    let issuer = Issuer::start().await;
    let plain = || issuer.config().create_provider().unwrap();
    for weakness in [
        AuthProvider::weakness(&plain()),
        AuthProvider::weakness(&plain().with_revocation(revocation())),
    ] {
        assert!(weakness.unwrap().contains("over http"));
    }
}
