//! The identity of a request.

use std::sync::Arc;

use crate::{RevocableToken, UserContext, Verified};

/// The identity of a request, derived from its token.
#[derive(Debug, Clone, Default)]
pub enum Identity {
    /// The request has no token.
    #[default]
    Anonymous,
    /// The token is valid.
    Known(Arc<Verified>),
    /// The token is not valid, so the request has no user.
    Refused(Refusal),
}

/// Why a request with a token has no user, as reported to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Expired,
    /// The token violates a rule or was revoked; clients do not learn which.
    Invalid,
}

impl Refusal {
    /// The `extensions.reason` of errors caused by the missing user.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "TOKEN_EXPIRED",
            Self::Invalid => "TOKEN_INVALID",
        }
    }
}

impl Identity {
    /// The user of the token.
    pub fn user(&self) -> Option<&UserContext> {
        match self {
            Self::Known(verified) => Some(&verified.user),
            Self::Anonymous | Self::Refused(_) => None,
        }
    }

    /// The token, if it is valid.
    pub fn verified(&self) -> Option<&Arc<Verified>> {
        match self {
            Self::Known(verified) => Some(verified),
            Self::Anonymous | Self::Refused(_) => None,
        }
    }

    /// The token in the form used for revocation, if it is valid.
    pub fn token(&self) -> Option<&RevocableToken> {
        match self {
            Self::Known(verified) => Some(&verified.revocable),
            Self::Anonymous | Self::Refused(_) => None,
        }
    }

    /// Why the token was rejected, if it was.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Refused(refusal) => Some(*refusal),
            Self::Anonymous | Self::Known(_) => None,
        }
    }
}
