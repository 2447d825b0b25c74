//! The fuzz targets: each accepts arbitrary bytes, and panics if an invariant is violated.
//!
//! `fuzz/` calls them with random bytes, the tests with the bytes in `fuzz/corpus`. They are
//! compiled only for these.

mod request;
mod service;
#[cfg(feature = "websocket")]
mod socket;
#[cfg(test)]
mod tests;

pub use request::request;
#[cfg(feature = "websocket")]
pub use socket::socket;

/// Reads a cursor: the mark of its list in four bytes, and its text.
pub fn cursor(bytes: &[u8]) {
    svc_engine::graphql::fuzz_cursor(bytes);
}

/// Reads a manifest of trusted documents, and registers its operations.
pub fn manifest(bytes: &[u8]) {
    service::with(|service| svc_engine::graphql::fuzz_manifest(&service.model, bytes));
}
