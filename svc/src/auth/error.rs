//! Errors of tokens and of their providers.

use std::borrow::Cow;

/// Why a token is not accepted, or a provider cannot do what is asked of it.
///
/// None of them holds a token or a secret, so each can be logged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The token was valid and is no longer (`TokenExpiredError`).
    #[error("the token has expired")]
    TokenExpired,
    /// The token is not one of this service (`InvalidTokenError`); with the rule that it breaks, for the log.
    #[error("the token is not valid: {0}")]
    InvalidToken(Cow<'static, str>),
    /// The provider has no such operation.
    #[error("the provider does not support this")]
    NotSupported,
    /// Something that the answer depends on is away: keys, a store, a database. Requests that need it get 503.
    #[error("authentication is not available: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl AuthError {
    /// A token that breaks a rule; the text is for the log and must not quote the token.
    pub fn invalid(rule: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidToken(rule.into())
    }

    /// Something that is away.
    pub fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(source.into())
    }
}
