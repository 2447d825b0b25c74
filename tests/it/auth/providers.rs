//! Providers as programs call them: one by itself, one of a program's own, and several as one.

use serde_json::json;
use svc::auth::{
    AuthError, AuthProvider, Claims, MemoryRevocationStore, MultiProvider, RevocationConfig,
    SignedTokenProvider, TokenRevocationService, UserContext,
};

use super::service::provider;
use super::token::{USER, token};

/// A provider of a program's own, which only does what it must.
struct Plain;

impl AuthProvider for Plain {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        match token {
            "plain" => Ok(Claims::new(
                json!({ "sub": "plain" })
                    .as_object()
                    .cloned()
                    .unwrap_or_default(),
            )),
            _ => Err(AuthError::invalid("it is another one's")),
        }
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        self.validate_token(token)
            .await
            .map(|_| UserContext::new("plain"))
    }
}

/// A provider that does everything.
struct Full;

impl AuthProvider for Full {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        Plain.validate_token(token).await
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        Plain.get_user_from_token(token).await
    }

    async fn refresh_token(&self, refresh_token: &str) -> Result<(String, String), AuthError> {
        Ok((
            format!("access of {refresh_token}"),
            format!("next of {refresh_token}"),
        ))
    }

    async fn revoke_token(&self, token: &str) -> Result<(), AuthError> {
        if token == "known" {
            Ok(())
        } else {
            Err(AuthError::invalid("it is not known"))
        }
    }

    fn key_generation(&self) -> u64 {
        3
    }

    fn revocation(&self) -> Option<TokenRevocationService> {
        Some(TokenRevocationService::new(
            MemoryRevocationStore::new(),
            RevocationConfig::default(),
        ))
    }

    fn weakness(&self) -> Option<String> {
        Some("everybody knows its secret".to_owned())
    }
}

#[tokio::test]
async fn a_signed_token_provider_reads_claims_and_users() {
    let (provider, token) = (provider(), token(json!({ "name": "Ada" })));
    let claims = provider.validate_token(&token).await.unwrap();
    assert_eq!(claims.get("name"), Some(&json!("Ada")));
    let user = provider.get_user_from_token(&token).await.unwrap();
    assert_eq!(
        (user.user_id.as_str(), user.name.as_deref()),
        (USER, Some("Ada"))
    );
    assert!(
        provider.validate_token("none").await.is_err()
            && provider.get_user_from_token("none").await.is_err()
    );
}

#[tokio::test]
async fn a_multi_provider_answers_as_the_first_capable_provider() {
    let several = MultiProvider::new().or(provider()).or(Plain).or(Full);
    let signed = token(json!({}));
    assert_eq!(
        several.validate_token(&signed).await.unwrap().get("sub"),
        Some(&json!(USER))
    );
    assert_eq!(
        several.validate_token("plain").await.unwrap().get("sub"),
        Some(&json!("plain"))
    );
    assert_eq!(
        several.get_user_from_token(&signed).await.unwrap().user_id,
        USER
    );
    assert_eq!(
        several.get_user_from_token("plain").await.unwrap().user_id,
        "plain"
    );
    assert!(several.validate_token("nobody's").await.is_err());
    let renewed = several.refresh_token("old").await.unwrap();
    assert_eq!(
        renewed,
        ("access of old".to_owned(), "next of old".to_owned())
    );
    assert!(
        several.revoke_token("known").await.is_ok()
            && several.revoke_token("unknown").await.is_err()
    );
    assert!(several.revocation().is_some());
    assert_eq!(several.key_generation(), 3);
    assert_eq!(
        several.or(Full).key_generation(),
        6,
        "a change of any of them shows"
    );
}

#[tokio::test]
async fn optional_provider_methods_have_defaults() {
    assert!(matches!(
        Plain.refresh_token("old").await,
        Err(AuthError::NotSupported)
    ));
    assert!(matches!(
        Plain.revoke_token("known").await,
        Err(AuthError::NotSupported)
    ));
    assert!(Plain.revocation().is_none());
    assert_eq!(Plain.weakness(), None);
}

/// A secret needs at least 32 bytes, the size of a hash by SHA-256.
#[test]
fn a_weak_secret_is_found_among_several_providers() {
    let with = |bytes: usize| SignedTokenProvider::with_secret("x".repeat(bytes)).unwrap();
    assert_eq!(with(32).weakness(), None);
    let weakness = with(31).weakness().unwrap();
    assert!(weakness.contains("31 bytes"), "{weakness}");
    assert_eq!(MultiProvider::new().or(with(32)).or(Plain).weakness(), None);
    assert_eq!(
        MultiProvider::new().or(with(32)).or(with(31)).weakness(),
        Some(weakness)
    );
}

#[test]
fn has_all_requires_every_role_or_permission() {
    let user = UserContext::new("1")
        .roles(["reader", "author"])
        .permissions(["read", "write"]);
    assert!(user.has_all_roles(["author", "reader"]) && !user.has_all_roles(["author", "admin"]));
    assert!(
        user.has_all_permissions(["read", "write"])
            && !user.has_all_permissions(["read", "remove"])
    );
    assert!(user.has_all_roles([""; 0]) && user.has_all_permissions([""; 0]));
}

#[test]
fn has_any_requires_one_role_or_permission() {
    let user = UserContext::new("1")
        .roles(["reader", "author"])
        .permissions(["read", "write"]);
    assert!(user.has_any_role(["admin", "author"]) && !user.has_any_role(["admin", "Author"]));
    assert!(
        user.has_any_permission(["remove", "read"]) && !user.has_any_permission(["remove", ""])
    );
    assert!(!user.has_any_role([""; 0]) && !user.has_any_permission([""; 0]));
}

#[test]
fn a_user_context_keeps_its_fields_and_metadata() {
    let user = UserContext::new("1")
        .roles(["author"])
        .metadata("tenant", 7)
        .email("ada@x")
        .name("Ada");
    assert_eq!(
        (
            user.user_id.as_str(),
            user.email.as_deref(),
            user.name.as_deref()
        ),
        ("1", Some("ada@x"), Some("Ada"))
    );
    let facts =
        ["email", "name", "tenant", "nothing"].map(|fact| user.claim(fact).unwrap_or_default());
    assert_eq!(
        (facts, user.has_role("author")),
        (["ada@x", "Ada", "7", ""].map(str::to_owned), true)
    );
}
