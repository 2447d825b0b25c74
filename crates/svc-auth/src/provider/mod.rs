//! The trait for authentication providers.

#[cfg(feature = "idp")]
mod idp;
mod multi;
mod signed;
mod standard_user;

use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::BoxFuture;

#[cfg(feature = "idp")]
pub use idp::{IdpError, IdpProvider, IntrospectionProvider, RevocableIdpProvider};
pub use multi::MultiProvider;
pub use signed::SignedTokenProvider;

use super::{AuthError, Claims, RevocableToken, TokenRevocationService, UserContext};
use crate::token::claims::time;

/// Verifies tokens and identifies their users; passed to `AppOptions::auth_provider`.
///
/// A provider verifies the signature and the expiry of a token. Only a verified token yields a
/// user. An error leaves the request without one, and [`AuthError::Unavailable`] rejects the
/// request.
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
    /// Returns the claims of a valid token.
    ///
    /// # Errors
    /// [`AuthError::TokenExpired`], [`AuthError::InvalidToken`], or [`AuthError::Unavailable`] if
    /// the token cannot be verified at the moment.
    fn validate_token(&self, token: &str)
    -> impl Future<Output = Result<Claims, AuthError>> + Send;

    /// Returns the user of a valid token.
    ///
    /// # Errors
    /// The errors of [`validate_token`](Self::validate_token).
    fn get_user_from_token(
        &self,
        token: &str,
    ) -> impl Future<Output = Result<UserContext, AuthError>> + Send;

    /// Returns claims and user together; requests call this method. Override it to verify the token
    /// only once for both, and to allow caching the result for a time.
    ///
    /// # Errors
    /// The errors of [`validate_token`](Self::validate_token).
    fn authenticate(
        &self,
        token: &str,
    ) -> impl Future<Output = Result<Authenticated, AuthError>> + Send {
        async move {
            let claims = self.validate_token(token).await?;
            Ok(Authenticated::new(
                claims,
                self.get_user_from_token(token).await?,
            ))
        }
    }

    /// Exchanges a refresh token for a new access token and a new refresh token.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] if the provider has no refresh tokens.
    fn refresh_token(
        &self,
        _refresh_token: &str,
    ) -> impl Future<Output = Result<(String, String), AuthError>> + Send {
        std::future::ready(Err(AuthError::NotSupported))
    }

    /// Revokes a token before it expires.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] if the provider cannot revoke tokens.
    fn revoke_token(&self, _token: &str) -> impl Future<Output = Result<(), AuthError>> + Send {
        std::future::ready(Err(AuthError::NotSupported))
    }

    /// Changes whenever the signing keys do. Cached tokens from another generation are verified
    /// again.
    fn key_generation(&self) -> u64 {
        0
    }

    /// The revocation service of the provider. Tokens revoked in it are rejected, as are those
    /// revoked in the service of the application.
    fn revocation(&self) -> Option<TokenRevocationService> {
        None
    }

    /// Why the provider is too weak for production, such as a short secret: the service then
    /// refuses to start in production, and warns in development.
    fn weakness(&self) -> Option<String> {
        None
    }
}

/// A token verified by a provider.
#[derive(Debug, Clone)]
pub struct Authenticated {
    #[doc(hidden)]
    pub claims: Claims,
    #[doc(hidden)]
    pub user: UserContext,
    #[doc(hidden)]
    pub keep_until: Option<SystemTime>,
    /// Whether the token alone determines the user.
    is_signed: bool,
}

impl Authenticated {
    /// The claims and the user of a token, valid for one request.
    pub fn new(claims: Claims, user: UserContext) -> Self {
        Self {
            claims,
            user,
            keep_until: None,
            is_signed: false,
        }
    }

    /// Marks a token whose signed claims determine the user until it expires, however long it may
    /// be cached.
    pub(crate) fn signed(mut self) -> Self {
        self.is_signed = true;
        self
    }

    /// Allows caching until this time, but never past the token's `exp`. Revocation is still
    /// checked on every request. If the time is before `exp`, the users of open sockets and streams
    /// are checked from time to time.
    #[must_use]
    pub fn keep_until(mut self, time: SystemTime) -> Self {
        self.keep_until = Some(time);
        self
    }

    /// The same token with the user completed by the application; the caching time can only get
    /// shorter.
    #[doc(hidden)]
    pub fn with_user(self, user: UserContext, until: Option<SystemTime>) -> Self {
        let keep_until = self
            .keep_until
            .map(|known| until.map_or(known, |until| until.min(known)));
        Self {
            user,
            keep_until,
            is_signed: false,
            ..self
        }
    }

    /// Whether the user stays the same until the token expires: the provider needs no further
    /// verification until then.
    fn is_fixed(&self) -> bool {
        let expires = self.claims.expires_at().and_then(time);
        let is_kept = expires.is_some() && self.keep_until >= expires;
        self.is_signed || is_kept
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

/// A verified token, shared between requests.
#[derive(Debug)]
pub struct Verified {
    pub user: UserContext,
    /// The token in the form used to look up revocations.
    pub revocable: RevocableToken,
    /// Whether the user stays the same until the token expires. Any other user is checked while a
    /// connection is open.
    pub is_fixed: bool,
}

impl Verified {
    pub(super) fn new(token: &Authenticated) -> Self {
        Self {
            user: token.user.clone(),
            revocable: RevocableToken::new(&token.claims, &token.user),
            is_fixed: token.is_fixed(),
        }
    }
}

/// A provider behind a pointer.
pub type SharedProvider = Arc<dyn DynProvider>;

/// [`AuthProvider`] for trait objects.
pub trait DynProvider: Send + Sync {
    fn authenticate<'a>(
        &'a self,
        token: &'a str,
    ) -> BoxFuture<'a, Result<Authenticated, AuthError>>;
    fn refresh_token<'a>(
        &'a self,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(String, String), AuthError>>;
    fn revoke_token<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<(), AuthError>>;
    fn key_generation(&self) -> u64;
    fn revocation(&self) -> Option<TokenRevocationService>;
    fn weakness(&self) -> Option<String>;
}

impl<P: AuthProvider> DynProvider for P {
    fn authenticate<'a>(
        &'a self,
        token: &'a str,
    ) -> BoxFuture<'a, Result<Authenticated, AuthError>> {
        Box::pin(AuthProvider::authenticate(self, token))
    }
    fn refresh_token<'a>(
        &'a self,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(String, String), AuthError>> {
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
