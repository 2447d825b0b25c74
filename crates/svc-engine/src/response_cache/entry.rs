//! A cached response.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::changes::Moment;

/// The bytes of a response, and how long they are valid.
#[derive(Debug)]
pub(crate) struct Entry {
    body: Bytes,
    /// The moment before its first read.
    pub(super) began: Moment,
    pub(super) until: Instant,
    etag: OnceLock<Option<HeaderValue>>,
}

impl Entry {
    pub(super) fn new(body: Bytes, began: Moment, until: Instant) -> Self {
        Self {
            body,
            began,
            until,
            etag: OnceLock::new(),
        }
    }

    /// The body of the response.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns the time until it expires, unless something changes.
    pub(crate) fn time_left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Returns the `ETag` of the body. It is weak, because the same response is sent as two media
    /// types, and compressed.
    pub(crate) fn etag(&self) -> Option<HeaderValue> {
        let etag = || {
            HeaderValue::try_from(format!(
                "W/\"{}\"",
                hex::encode(&Sha256::digest(&self.body)[..16])
            ))
            .ok()
        };
        self.etag.get_or_init(etag).clone()
    }
}
