//! Tokens: their algorithms, claims and signatures.

mod algorithm;
#[cfg(feature = "auth")]
pub(super) mod claims;
#[cfg(feature = "auth")]
mod jws;
mod leeway;

pub(super) use algorithm::ALGORITHMS;
pub use algorithm::TokenAlgorithm;
#[cfg(feature = "auth")]
pub use claims::Claims;
#[cfg(feature = "idp")]
pub(super) use jws::is_for;
#[cfg(feature = "auth")]
pub(crate) use jws::{ClaimRules, Compact};
#[cfg(feature = "auth")]
pub use jws::{KeyError, SigningKey, VerifyingKey};
pub(super) use leeway::MAX_LEEWAY;
