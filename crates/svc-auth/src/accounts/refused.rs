//! Rejections of operations on accounts.

use std::time::Duration;

use uuid::Uuid;

use super::AccountError;
use super::password::{Busy, Weakness};
use crate::AuthError;
use svc_core::error::{ErrorIds, ErrorLocation};
use svc_telemetry::error_tracker::{self, Facts};

/// Why an operation on accounts is rejected.
#[derive(Debug, Clone)]
pub(super) enum Refused {
    /// Unknown user, wrong password or suspended account: the response is the same for all.
    WrongCredentials,
    /// The request has no token.
    NoToken,
    /// The token of the request is not valid.
    BadToken {
        expired: bool,
    },
    /// The mailed token is not valid.
    BadMailedToken,
    Taken,
    WeakPassword(Weakness),
    /// A field of the request cannot be used.
    BadInput(&'static str),
    /// There is no session with this identifier.
    NoSession,
    TooManyAttempts(Duration),
    /// A dependency is unavailable, or there are too many requests; the log has the reason under
    /// this identifier.
    Unavailable(Uuid),
    /// The password is set, but a later step failed: sessions may go on, and none has begun. The
    /// log has the reason under this identifier.
    PasswordIsSet(Uuid),
}

impl Refused {
    /// The rejection of an operation that cannot be done at the moment. The reason is only logged.
    #[track_caller]
    pub(super) fn unavailable(what: &str, error: &str) -> Self {
        let ids = ErrorIds::new();
        error_tracker::capture(
            &ids,
            &ErrorLocation::here("accounts"),
            what,
            error,
            1,
            &Facts::default(),
        );

        tracing::warn!(error_id = %ids.error, request_id = ids.request(), trace_id = ids.trace(), error, "{what}");

        Self::Unavailable(ids.error)
    }

    /// The same rejection of an operation that has set the password before it failed.
    pub(super) fn with_password_set(self) -> Self {
        match self {
            Self::Unavailable(id) => Self::PasswordIsSet(id),
            refused => refused,
        }
    }
}

impl From<AccountError> for Refused {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::Taken => Self::Taken,
            AccountError::Unavailable(_) => {
                Self::unavailable("accounts are not available", &with_sources(&error))
            }
        }
    }
}

impl From<Busy> for Refused {
    fn from(busy: Busy) -> Self {
        Self::unavailable("accounts are not available", &busy.to_string())
    }
}

impl From<AuthError> for Refused {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::TokenExpired => Self::BadToken { expired: true },
            AuthError::InvalidToken(_) => Self::BadToken { expired: false },
            AuthError::NotSupported | AuthError::Unavailable(_) => Self::unavailable(
                "sessions cannot be ended or verified",
                &with_sources(&error),
            ),
        }
    }
}

#[doc(hidden)]
impl From<Refused> for AuthError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::BadToken { expired: true } => Self::TokenExpired,
            Refused::Unavailable(_) | Refused::PasswordIsSet(_) | Refused::TooManyAttempts(_) => {
                Self::unavailable("accounts are not available")
            }
            _ => Self::invalid("its session has ended"),
        }
    }
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();

        // Some errors repeat the text of their source.
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }

    text
}
