//! The settings of revocation.

use std::time::Duration;

/// The settings of a [`TokenRevocationService`](super::TokenRevocationService).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RevocationConfig {
    /// Whether tokens can be revoked; without it, revoking is an error and no token is looked up.
    pub enabled: bool,
    /// Whether requests look their tokens up.
    pub check_revocation: bool,
    /// The time for which a revocation is kept at least. That of one token is kept until its `exp`
    /// in any case; that of all of a user's tokens ends with it, so it must not be shorter than
    /// tokens live. Five minutes, the largest leeway of a provider, are added.
    pub ttl: Duration,
    /// The time between two removals of what is kept no longer, for stores that need it.
    pub cleanup_interval: Duration,
    /// Whether tokens count when the store does not answer. No is the default: such requests are
    /// answered with 503.
    pub allow_when_away: bool,
}

impl Default for RevocationConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            check_revocation: true,
            ttl: Duration::from_secs(86_400),
            cleanup_interval: Duration::from_secs(3_600),
            allow_when_away: false,
        }
    }
}
