//! The seam for providers of users.

use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::{AuthError, Claims, RevocableToken, TokenRevocationService, UserContext};

/// A provider of users: it verifies tokens and says whose they are; given to [`AppOptions::auth_provider`](crate::AppOptions::auth_provider).
///
/// A provider verifies the signature and the end of the token's time. Only what it verifies is ever a user; each error
/// leaves the request without one, and [`AuthError::Unavailable`] refuses it.
///
/// ```
/// use svc::auth::{AuthError, AuthProvider, Claims, UserContext};
/// # async fn look_up(token: &str) -> Result<svc::serde_json::Map<String, svc::serde_json::Value>, std::io::Error> { Ok(Default::default()) }
///
/// struct OurTokens;
///
/// impl AuthProvider for OurTokens {
///     async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
///         look_up(token).await.map(Claims::new).map_err(AuthError::unavailable)
///     }
///
///     async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
///         let claims = self.validate_token(token).await?;
///         claims.subject().map(UserContext::new).ok_or_else(|| AuthError::invalid("there is no `sub`"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not verify tokens",
    note = "take `SignedTokenProvider`, or implement `AuthProvider` with `validate_token` and `get_user_from_token`"
)]
pub trait AuthProvider: Send + Sync + 'static {
    /// Returns the claims of a token that holds.
    ///
    /// # Errors
    /// [`AuthError::TokenExpired`], [`AuthError::InvalidToken`], or [`AuthError::Unavailable`] when that cannot be told.
    fn validate_token(&self, token: &str) -> impl Future<Output = Result<Claims, AuthError>> + Send;

    /// Returns the user of a token that holds.
    ///
    /// # Errors
    /// Those of [`validate_token`](Self::validate_token).
    fn get_user_from_token(&self, token: &str) -> impl Future<Output = Result<UserContext, AuthError>> + Send;

    /// Returns both at once, which is what requests ask for. A provider that verifies once for both says so here, and
    /// for how long the answer holds.
    ///
    /// # Errors
    /// Those of [`validate_token`](Self::validate_token).
    fn authenticate(&self, token: &str) -> impl Future<Output = Result<Authenticated, AuthError>> + Send {
        async move {
            let claims = self.validate_token(token).await?;
            Ok(Authenticated::new(claims, self.get_user_from_token(token).await?))
        }
    }

    /// Exchanges a refresh token for a new access token and a new refresh token.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] where a provider has none.
    fn refresh_token(&self, _refresh_token: &str) -> impl Future<Output = Result<(String, String), AuthError>> + Send {
        std::future::ready(Err(AuthError::NotSupported))
    }

    /// Ends a token before its time.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] where a provider cannot.
    fn revoke_token(&self, _token: &str) -> impl Future<Output = Result<(), AuthError>> + Send {
        std::future::ready(Err(AuthError::NotSupported))
    }

    /// A number that changes with the keys. Tokens that were kept under another are verified anew.
    fn key_generation(&self) -> u64 {
        0
    }

    /// The revocation service that the provider brings, for applications that give none of their own.
    fn revocation(&self) -> Option<TokenRevocationService> {
        None
    }

    /// The reason for which the provider is too weak for production, such as a short secret: the service refuses to
    /// start there, and warns in development.
    fn weakness(&self) -> Option<String> {
        None
    }
}

/// A token that a provider has verified.
#[derive(Debug, Clone)]
pub struct Authenticated {
    pub(super) claims: Claims,
    pub(super) user: UserContext,
    pub(super) keep_until: Option<SystemTime>,
}

impl Authenticated {
    /// A token's claims and user. They hold for one request.
    pub fn new(claims: Claims, user: UserContext) -> Self {
        Self { claims, user, keep_until: None }
    }

    /// The same for requests until then, but never past the token's `exp`. Whether it was revoked is still asked each
    /// time.
    #[must_use]
    pub fn keep_until(mut self, time: SystemTime) -> Self {
        self.keep_until = Some(time);
        self
    }

    /// The same token with the user as the application has completed it, for a time that only gets shorter.
    pub(crate) fn with_user(self, user: UserContext, until: Option<SystemTime>) -> Self {
        let keep_until = self.keep_until.map(|known| until.map_or(known, |until| until.min(known)));
        Self { user, keep_until, ..self }
    }

    /// The claims.
    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    /// The user.
    pub fn user(&self) -> &UserContext {
        &self.user
    }
}

/// A token that was verified, as requests share it.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) user: UserContext,
    /// The token as revocations are looked up by it.
    pub(crate) revocable: RevocableToken,
}

impl Verified {
    pub(super) fn new(claims: &Claims, user: UserContext) -> Self {
        Self { revocable: RevocableToken::new(claims, &user), user }
    }
}

/// A provider behind a pointer.
pub(crate) type SharedProvider = Arc<dyn DynProvider>;

/// [`AuthProvider`] for trait objects.
pub(crate) trait DynProvider: Send + Sync {
    fn authenticate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Authenticated, AuthError>>;
    fn refresh_token<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<(String, String), AuthError>>;
    fn revoke_token<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<(), AuthError>>;
    fn key_generation(&self) -> u64;
    fn revocation(&self) -> Option<TokenRevocationService>;
    fn weakness(&self) -> Option<String>;
}

impl<P: AuthProvider> DynProvider for P {
    fn authenticate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Authenticated, AuthError>> {
        Box::pin(AuthProvider::authenticate(self, token))
    }
    fn refresh_token<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<(String, String), AuthError>> {
        Box::pin(AuthProvider::refresh_token(self, token))
    }
    fn revoke_token<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(AuthProvider::revoke_token(self, token))
    }
    fn key_generation(&self) -> u64 {
        AuthProvider::key_generation(self)
    }
    fn revocation(&self) -> Option<TokenRevocationService> {
        AuthProvider::revocation(self)
    }
    fn weakness(&self) -> Option<String> {
        AuthProvider::weakness(self)
    }
}
