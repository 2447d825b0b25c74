//! Errors of keys.

use crate::TokenAlgorithm;

/// Why a key cannot be used. It never contains the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not a public key.
    #[error("the key must be a public key as PEM, which begins with -----BEGIN PUBLIC KEY-----")]
    NotPublicPem,
    /// The key belongs to another algorithm.
    #[error("the key does not fit {0}; it must be {1}")]
    Unfit(TokenAlgorithm, &'static str),
    /// A public key was passed as the secret of an HMAC algorithm.
    #[error(
        "{0} takes a secret, and this is a PEM key, which others may know; choose its algorithm, such as RS256"
    )]
    PublicSecret(TokenAlgorithm),
    /// The secret is empty.
    #[error("the secret must not be empty")]
    EmptySecret,
}
