//! An answer that is kept.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::changes::Moment;

/// The bytes of an answer, and how long they hold.
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
        Self { body, began, until, etag: OnceLock::new() }
    }

    /// The answer's body.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns the time for which it holds, unless something changes.
    pub(crate) fn time_left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Returns the `ETag` of the body. It is weak, as the same answer is sent as two media types, and compressed.
    pub(crate) fn etag(&self) -> Option<HeaderValue> {
        let etag = || HeaderValue::try_from(format!("W/\"{}\"", hex::encode(&Sha256::digest(&self.body)[..16]))).ok();
        self.etag.get_or_init(etag).clone()
    }
}
