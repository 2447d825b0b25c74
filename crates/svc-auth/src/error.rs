//! Errors of tokens and of their providers.

use std::borrow::Cow;

/// Why a token was rejected, or why a provider cannot perform an operation.
///
/// No variant contains a token or a secret, so all of them can be logged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The token was valid and has expired (`TokenExpiredError`).
    #[error("the token has expired")]
    TokenExpired,
    /// The token is not valid for this service (`InvalidTokenError`). Contains the violated rule,
    /// for the log.
    #[error("the token is not valid: {0}")]
    InvalidToken(Cow<'static, str>),
    /// The provider does not support the operation.
    #[error("the provider does not support this")]
    NotSupported,
    /// A dependency is unavailable: keys, a store, a database. Requests that need it get 503.
    #[error("authentication is not available: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl AuthError {
    /// A token that violates a rule; the text is for the log and must not quote the token.
    pub fn invalid(rule: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidToken(rule.into())
    }

    /// An unavailable dependency.
    pub fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(source.into())
    }
}
