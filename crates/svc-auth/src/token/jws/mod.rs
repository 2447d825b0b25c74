//! Signed tokens (RFC 7515, RFC 7519), verified according to RFC 8725.
//!
//! Only the compact form is supported. A key belongs to one algorithm, which must match `alg` in
//! the header; keys in headers (`jwk`, `jku`, `x5u`, `x5c`) are ignored.

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
pub(crate) use rules::is_for;

pub use error::KeyError;
pub use signing_key::SigningKey;
pub use verifying_key::VerifyingKey;
