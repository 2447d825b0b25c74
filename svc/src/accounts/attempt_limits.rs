//! The limits of failed attempts and of registrations.

use std::time::Duration;

/// The limits on attempts with credentials, and on registrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptLimits {
    /// The most attempts that fail for one account.
    pub per_account: u32,
    /// The most attempts that fail for one address, or network of 64 bits of IPv6.
    pub per_address: u32,
    /// The most accounts that are made from one address, or network of 64 bits of IPv6. Behind a proxy, tell the service
    /// how it learns addresses (`SVC_ACCOUNTS_ADDRESS_HEADER`): else all clients share the proxy's.
    pub registrations_per_address: u32,
    /// The time in which they are counted.
    pub window: Duration,
}

impl Default for AttemptLimits {
    fn default() -> Self {
        Self { per_account: 10, per_address: 100, registrations_per_address: 50, window: Duration::from_secs(900) }
    }
}
