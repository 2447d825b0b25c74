//! Authentication: tokens, providers, and what a request without a user may do.

mod revocation;
mod service;
mod signed_tokens;
mod start;
mod token;
mod transport;
