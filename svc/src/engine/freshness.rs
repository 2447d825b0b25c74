//! The headers of an answer that caches of others may keep.

use axum::http::HeaderValue;

use crate::response_cache::Entry;

/// The validator of an answer that everybody may have, and the time for which others may keep it.
#[derive(Debug)]
pub(crate) struct Freshness {
    pub(crate) etag: HeaderValue,
    pub(crate) cache_control: HeaderValue,
    /// The headers of requests that the answer depends on.
    pub(crate) vary: HeaderValue,
}

impl Freshness {
    /// That of a kept answer. Unless it `may_age` elsewhere, caches ask each time whether it is still the same.
    pub(super) fn new(entry: &Entry, may_age: bool, vary: HeaderValue) -> Option<Self> {
        let cache_control = match may_age {
            true => HeaderValue::try_from(format!("public, max-age={}", entry.time_left().as_secs())).ok()?,
            false => HeaderValue::from_static("public, no-cache"),
        };
        Some(Self { etag: entry.etag()?, cache_control, vary })
    }

    /// Whether a client has this answer, as its `If-None-Match` says (RFC 9110, section 13.1.2).
    pub(crate) fn is_known(&self, if_none_match: &HeaderValue) -> bool {
        let opaque = |etag: &str| etag.trim().trim_start_matches("W/").to_owned();
        let (Ok(known), Ok(own)) = (if_none_match.to_str(), self.etag.to_str()) else { return false };
        known.trim() == "*" || known.split(',').any(|etag| opaque(etag) == opaque(own))
    }
}
