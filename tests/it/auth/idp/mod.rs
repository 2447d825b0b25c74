//! Identity providers: one that others wrote, and a scripted one for faults.

mod claims;
mod direct;
mod faults;
mod introspection;
mod issuer;
mod kept;
mod keys;
mod management;
mod oidc_provider;
mod start;
