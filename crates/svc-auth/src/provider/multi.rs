//! Several providers as one.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{AuthProvider, Authenticated, SharedProvider};
use crate::{AuthError, Claims, TokenRevocationService, UserContext};

/// Several providers; the first one that accepts a token decides.
///
/// A token that no provider accepts is invalid, regardless of the error of the last provider. An
/// unavailable provider is skipped only if another one accepts the token. A token is invalid as
/// soon as the revocation service of any of the providers has revoked it.
///
/// ```
/// use svc::auth::{MultiProvider, SignedTokenProvider};
///
/// let inside = SignedTokenProvider::with_secret("the secret of the services inside, long enough")?.issuer("inside");
/// let shop = SignedTokenProvider::with_secret("the secret of the shop outside, just as long")?.issuer("shop");
/// let provider = MultiProvider::new().or(inside).or(shop);
/// # Ok::<(), svc::auth::KeyError>(())
/// ```
#[derive(Default)]
#[must_use = "give it to `AppOptions::auth_provider`"]
pub struct MultiProvider(Vec<SharedProvider>);

impl MultiProvider {
    /// No providers: every token is rejected.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a provider, tried after the ones added before.
    pub fn or(mut self, provider: impl AuthProvider) -> Self {
        self.0.push(Arc::new(provider));
        self
    }

    /// Adds a provider that is already shared.
    #[doc(hidden)]
    pub fn or_shared(mut self, provider: SharedProvider) -> Self {
        self.0.push(provider);
        self
    }
}

impl AuthProvider for MultiProvider {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        Ok(AuthProvider::authenticate(self, token).await?.claims)
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        Ok(AuthProvider::authenticate(self, token).await?.user)
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        first(self.0.iter().map(|provider| provider.authenticate(token))).await
    }

    async fn refresh_token(&self, refresh_token: &str) -> Result<(String, String), AuthError> {
        first(
            self.0
                .iter()
                .map(|provider| provider.refresh_token(refresh_token)),
        )
        .await
    }

    async fn revoke_token(&self, token: &str) -> Result<(), AuthError> {
        first(self.0.iter().map(|provider| provider.revoke_token(token))).await
    }

    fn key_generation(&self) -> u64 {
        // Generations only grow, so the sum changes whenever one of them does.
        self.0.iter().fold(0, |sum, provider| {
            sum.wrapping_add(provider.key_generation())
        })
    }

    /// One service for the services of all providers.
    fn revocation(&self) -> Option<TokenRevocationService> {
        TokenRevocationService::of_all(self.0.iter().filter_map(|provider| provider.revocation()))
    }

    fn weakness(&self) -> Option<String> {
        self.0.iter().find_map(|provider| provider.weakness())
    }
}

/// Returns the first success. Without one, an unavailable provider outranks a rejection, as it
/// might have accepted the token; expiry outranks other rejections, as only a provider that has
/// verified the token reports it.
async fn first<'a, T>(
    answers: impl Iterator<Item = BoxFuture<'a, Result<T, AuthError>>>,
) -> Result<T, AuthError> {
    let mut refused = AuthError::invalid("no provider takes it");

    // The iterator is lazy: a provider gets the token only after all earlier ones have rejected it,
    // which spares requests to remote ones.
    for answer in answers {
        match (answer.await, &refused) {
            (Ok(answer), _) => return Ok(answer),
            (Err(AuthError::InvalidToken(_) | AuthError::NotSupported), _)
            | (Err(AuthError::TokenExpired), AuthError::Unavailable(_)) => {}
            (Err(error), _) => refused = error,
        }
    }

    Err(refused)
}

impl std::fmt::Debug for MultiProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MultiProvider")
            .field("providers", &self.0.len())
            .finish()
    }
}
