//! Authentication: tokens, providers, and what a request without a user may do.

mod idp;
mod revocation;
mod service;
mod session_variables;
mod signed_tokens;
mod start;
mod token;
mod transport;
mod unverified;
mod user_loader;
