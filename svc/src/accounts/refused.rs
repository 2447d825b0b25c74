//! Refusals of operations on accounts.

use std::time::Duration;

use super::AccountError;
use super::password::{Busy, Weakness};
use crate::auth::AuthError;

/// The reason for which an operation on accounts is refused.
#[derive(Debug)]
pub(super) enum Refused {
    /// Unknown user, wrong password, suspended account: one answer for all.
    WrongCredentials,
    /// The token of the request does not hold.
    BadToken {
        expired: bool,
    },
    /// The token of a mail does not hold.
    BadMailedToken,
    Taken,
    WeakPassword(Weakness),
    /// A field of the request cannot be used.
    BadInput(&'static str),
    /// There is no session of this identifier.
    NoSession,
    TooManyAttempts(Duration),
    /// Something is away, or too much is asked at the moment.
    Unavailable,
}

impl From<AccountError> for Refused {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::Taken => Self::Taken,
            AccountError::Unavailable(_) => {
                tracing::warn!(error = %with_sources(&error), "accounts are not available");
                Self::Unavailable
            }
        }
    }
}

impl From<Busy> for Refused {
    fn from(busy: Busy) -> Self {
        tracing::warn!("{busy}");
        Self::Unavailable
    }
}

impl From<AuthError> for Refused {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::TokenExpired => Self::BadToken { expired: true },
            AuthError::InvalidToken(_) => Self::BadToken { expired: false },
            AuthError::NotSupported | AuthError::Unavailable(_) => {
                tracing::warn!(error = %with_sources(&error), "sessions cannot be ended or verified");
                Self::Unavailable
            }
        }
    }
}

impl From<Refused> for AuthError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::BadToken { expired: true } => Self::TokenExpired,
            Refused::Unavailable | Refused::TooManyAttempts(_) => Self::unavailable("accounts are not available"),
            _ => Self::invalid("its session has ended"),
        }
    }
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}
