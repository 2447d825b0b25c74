//! The identity of a request.

use std::sync::Arc;

use super::provider::Verified;
use super::{RevocableToken, UserContext};

/// The identity of a request, as its token says.
#[derive(Debug, Clone, Default)]
pub(crate) enum Identity {
    /// There is no token.
    #[default]
    Anonymous,
    /// The token holds.
    Known(Arc<Verified>),
    /// The token does not hold, so there is no user.
    Refused(Refusal),
}

/// Why there is no user although there is a token; as clients see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Expired,
    /// It breaks a rule, or was revoked: which of the two is nobody's business.
    Invalid,
}

impl Refusal {
    /// The `extensions.reason` of errors for want of a user.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "TOKEN_EXPIRED",
            Self::Invalid => "TOKEN_INVALID",
        }
    }
}

impl Identity {
    /// The user that the token names.
    pub(crate) fn user(&self) -> Option<&UserContext> {
        match self {
            Self::Known(verified) => Some(&verified.user),
            Self::Anonymous | Self::Refused(_) => None,
        }
    }

    /// The token, if it holds.
    pub(crate) fn verified(&self) -> Option<&Arc<Verified>> {
        match self {
            Self::Known(verified) => Some(verified),
            Self::Anonymous | Self::Refused(_) => None,
        }
    }

    /// The token, as it is revoked.
    pub(crate) fn token(&self) -> Option<&RevocableToken> {
        match self {
            Self::Known(verified) => Some(&verified.revocable),
            Self::Anonymous | Self::Refused(_) => None,
        }
    }

    /// The refusal of the token, where there is one.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Refused(refusal) => Some(*refusal),
            Self::Anonymous | Self::Known(_) => None,
        }
    }
}
