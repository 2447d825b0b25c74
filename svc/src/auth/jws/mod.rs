//! Signed tokens (RFC 7515, RFC 7519), with what RFC 8725 asks of those who verify them.
//!
//! Only the compact form is read. A key belongs to one algorithm, and the header's `alg` has to be that one; keys in
//! headers (`jwk`, `jku`, `x5u`, `x5c`) are never looked at.

mod compact;
mod error;
mod rules;
mod signing_key;
mod verifying_key;
#[cfg(test)]
mod wycheproof;

pub(crate) use compact::Compact;
pub(crate) use rules::ClaimRules;
#[cfg(feature = "idp")]
pub(super) use rules::is_for;

pub use error::KeyError;
pub use signing_key::SigningKey;
pub use verifying_key::VerifyingKey;
