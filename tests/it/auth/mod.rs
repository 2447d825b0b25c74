//! Authentication: tokens, providers, and what a request without a user may do.

#![expect(
    clippy::needless_pass_by_value,
    reason = "claims are written where they are used"
)]

mod api_keys;
mod claims;
mod cleanup;
mod dev_auth;
mod hostile;
mod idp;
mod interop;
mod kept;
mod looked_up;
mod providers;
mod redis_settings;
mod redis_tls;
mod revocation;
pub(crate) mod service;
mod session_variables;
mod several;
mod signed_tokens;
mod start;
mod times;
mod token;
mod transport;
mod unverified;
mod user_loader;
mod written;

/// A token of the custom provider, with these claims in addition; null takes one away.
pub(crate) fn token(more: svc::serde_json::Value) -> String {
    token::token(more)
}

/// A token by HS256 of a header and of a payload that is encoded already.
pub(crate) fn sign(header: &str, payload: &str, secret: &[u8]) -> String {
    token::signed_parts(header, payload, secret)
}
