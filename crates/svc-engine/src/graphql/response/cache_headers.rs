//! The headers of a response that external caches may store.

use axum::http::HeaderValue;

use crate::response_cache::Entry;

/// The validator of a public response, and how long external caches may store it.
#[derive(Debug)]
pub struct Freshness {
    pub etag: HeaderValue,
    pub cache_control: HeaderValue,
    /// The request headers that the response depends on.
    pub vary: HeaderValue,
}

impl Freshness {
    /// The headers of a cached response. Unless it `may_age` in external caches, they revalidate it
    /// each time.
    pub(in crate::graphql) fn new(entry: &Entry, may_age: bool, vary: HeaderValue) -> Option<Self> {
        let cache_control = match may_age {
            true => {
                HeaderValue::try_from(format!("public, max-age={}", entry.time_left().as_secs()))
                    .ok()?
            }
            false => HeaderValue::from_static("public, no-cache"),
        };

        Some(Self {
            etag: entry.etag()?,
            cache_control,
            vary,
        })
    }

    /// Whether `If-None-Match` shows that the client has this response (RFC 9110, section 13.1.2).
    pub(crate) fn is_known(&self, if_none_match: &HeaderValue) -> bool {
        // The comparison is weak, so it ignores `W/` (RFC 9110, section 8.8.3.2).
        let opaque = |etag: &str| etag.trim().trim_start_matches("W/").to_owned();
        let (Ok(known), Ok(own)) = (if_none_match.to_str(), self.etag.to_str()) else {
            return false;
        };
        known.trim() == "*" || known.split(',').any(|etag| opaque(etag) == opaque(own))
    }
}
