//! Tokens in the form used for revocation.

use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use crate::token::claims::time;
use crate::{Claims, UserContext};

/// A token in the form used for revocation; it cannot be used to authenticate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocableToken {
    id: Option<String>,
    session_id: Option<String>,
    subject: Option<String>,
    has_sub: bool,
    issued_at: Option<SystemTime>,
    expires_at: Option<SystemTime>,
    api_key_id: Option<Box<str>>,
}

impl RevocableToken {
    /// The claim with the identifier of an API key, in the claims that its provider makes up.
    #[doc(hidden)]
    pub const API_KEY: &str = "svc:api_key";

    /// Builds the form from verified claims and their user.
    pub fn new(claims: &Claims, user: &UserContext) -> Self {
        Self {
            id: claims
                .token_id()
                .map(|id| hashed_id(claims.issuer().unwrap_or_default(), id)),
            session_id: claims.text("sid").map(|id| session_id(claims.issuer(), id)),
            // The application revokes by the user's identifier, which may come from another claim
            // than `sub`.
            subject: Some(user.user_id.clone()).filter(|id| !id.is_empty()),
            has_sub: claims.subject().is_some(),
            issued_at: claims.issued_at().and_then(time),
            expires_at: claims.expires_at().and_then(time),
            api_key_id: claims.text(Self::API_KEY).map(Box::from),
        }
    }

    /// The identifier of the token: 64 hexadecimal digits, derived from `iss` and `jti`; `None` for
    /// a token without `jti`.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The identifier of its session: 64 hexadecimal digits, derived from `iss` and `sid`; `None`
    /// for a token without `sid`. Revoking it revokes all tokens of the session.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// The identifiers that can be revoked: the token's and its session's.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        [self.id(), self.session_id()].into_iter().flatten()
    }

    /// The identifier of its user, from whichever claim; `None` if it is empty.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Whether the token has `sub`.
    pub(super) fn has_sub(&self) -> bool {
        self.has_sub
    }

    /// The identifier of the API key, if it is one.
    #[doc(hidden)]
    pub fn api_key_id(&self) -> Option<&str> {
        self.api_key_id.as_deref()
    }

    /// The time of issue.
    pub fn issued_at(&self) -> Option<SystemTime> {
        self.issued_at
    }

    /// The expiry.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_at
    }

    /// Whether a revocation of all tokens issued to its user before `cut_off` applies to it. It
    /// also applies to a token without a time of issue.
    pub fn is_before(&self, cut_off: SystemTime) -> bool {
        self.issued_at.is_none_or(|issued| issued < cut_off)
    }
}

/// The identifier of a session, distinct from all token identifiers.
pub(crate) fn session_id(issuer: Option<&str>, id: &str) -> String {
    hashed_id(&format!("session of {}", issuer.unwrap_or_default()), id)
}

/// An identifier of bounded length that differs between issuers.
fn hashed_id(issuer: &str, id: &str) -> String {
    let mut hash = Sha256::new();

    // The length marks where the issuer ends, so that no other pair gives the same input.
    hash.update((issuer.len() as u64).to_be_bytes());
    hash.update(issuer);
    hash.update(id);
    hex::encode(hash.finalize())
}
