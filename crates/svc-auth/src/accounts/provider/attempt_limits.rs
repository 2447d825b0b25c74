//! The limits on failed attempts and registrations.

use std::time::Duration;

/// The limits on attempts with credentials, and on registrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptLimits {
    /// The maximum number of failed attempts for one account.
    pub per_account: u32,
    /// The maximum number of failed attempts from one address, or IPv6 network of 64 bits.
    pub per_address: u32,
    /// The maximum number of accounts created from one address, or IPv6 network of 64 bits. Behind
    /// a proxy, configure the header with the client's address (`SVC_ACCOUNTS_ADDRESS_HEADER`):
    /// otherwise all clients share the proxy's.
    pub registrations_per_address: u32,
    /// The time window for counting.
    pub window: Duration,
}

impl Default for AttemptLimits {
    fn default() -> Self {
        Self {
            per_account: 10,
            per_address: 100,
            registrations_per_address: 50,
            window: Duration::from_secs(900),
        }
    }
}
