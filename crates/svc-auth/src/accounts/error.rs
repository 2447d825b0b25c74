//! Errors of account storage.

use std::error::Error;

/// A failure of account storage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// The name or the address belongs to another account.
    #[error("the name or the address is taken")]
    Taken,
    /// The storage cannot answer at the moment; clients get 503.
    #[error("accounts are not available: {0}")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

impl AccountError {
    /// An unavailable dependency.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(source.into())
    }
}
