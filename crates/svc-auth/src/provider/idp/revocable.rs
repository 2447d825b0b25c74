//! Revocable tokens of an identity provider.

use super::IdpProvider;
use crate::{
    AuthError, AuthProvider, Authenticated, Claims, RevocableToken, TokenRevocationService,
    UserContext,
};

/// An [`IdpProvider`] whose tokens can be revoked before they expire.
///
/// ```
/// use svc::auth::{IdpProvider, MemoryRevocationStore, RevocationConfig, TokenRevocationService};
/// use svc::prelude::*;
///
/// let revocation = TokenRevocationService::new(MemoryRevocationStore::new(), RevocationConfig::default());
/// let provider = IdpProvider::new("acme.eu.auth0.com", "https://api.acme.example")?.with_revocation(revocation);
/// let options = AppOptions::new().auth_provider(provider);
/// # Ok::<(), svc::auth::IdpError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "give it to `AppOptions::auth_provider`"]
pub struct RevocableIdpProvider {
    provider: IdpProvider,
    revocation: TokenRevocationService,
}

impl IdpProvider {
    /// The same provider with revocation: every token is checked, and the service's log-outs revoke
    /// tokens.
    pub fn with_revocation(self, revocation: TokenRevocationService) -> RevocableIdpProvider {
        RevocableIdpProvider {
            provider: self,
            revocation,
        }
    }
}

impl RevocableIdpProvider {
    /// Revokes the token with these claims.
    ///
    /// # Errors
    /// The errors of [`TokenRevocationService::revoke`].
    pub async fn logout(&self, claims: &Claims) -> Result<(), AuthError> {
        self.revocation
            .revoke(&RevocableToken::new(claims, &self.provider.user(claims)?))
            .await
    }

    /// Revokes all tokens issued to a user up to now.
    ///
    /// # Errors
    /// The errors of [`TokenRevocationService::revoke_all`].
    pub async fn logout_all_sessions(&self, user_id: &str) -> Result<(), AuthError> {
        self.revocation.revoke_all(user_id).await
    }

    /// The underlying provider, for its management operations.
    pub fn provider(&self) -> &IdpProvider {
        &self.provider
    }
}

impl AuthProvider for RevocableIdpProvider {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        self.provider.validate_token(token).await
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        self.provider.get_user_from_token(token).await
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        AuthProvider::authenticate(&self.provider, token).await
    }

    async fn revoke_token(&self, token: &str) -> Result<(), AuthError> {
        // Only a verified token is revoked: a forged one could contain the identifier of any other.
        self.logout(&self.provider.validate_token(token).await?)
            .await
    }

    fn key_generation(&self) -> u64 {
        AuthProvider::key_generation(&self.provider)
    }

    fn revocation(&self) -> Option<TokenRevocationService> {
        Some(self.revocation.clone())
    }

    fn weakness(&self) -> Option<String> {
        AuthProvider::weakness(&self.provider)
    }
}
