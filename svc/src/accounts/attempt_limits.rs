//! The limits of failed attempts.

use std::time::Duration;

/// The limits on attempts with credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptLimits {
    /// The most attempts that fail for one account.
    pub per_account: u32,
    /// The most attempts that fail for one address, or network of 64 bits of IPv6.
    pub per_address: u32,
    /// The time in which they are counted.
    pub window: Duration,
}

impl Default for AttemptLimits {
    fn default() -> Self {
        Self { per_account: 10, per_address: 100, window: Duration::from_secs(900) }
    }
}
