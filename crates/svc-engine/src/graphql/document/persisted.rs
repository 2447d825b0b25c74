//! Automatic persisted queries: a client sends the hash of a document it has sent before, instead
//! of the document.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};

#[cfg(feature = "redis")]
use super::shared_persisted::SharedPersistedQueries;
use crate::graphql::error::RequestError;
use svc_core::ErrorCode;
use svc_telemetry::metrics::CacheType;

/// The maximum number of cached bytes of document text.
const CAPACITY: u64 = 8 << 20;
/// The initial capacity in documents.
const EXPECTED: usize = 512;
/// The weight of a document in addition to its text.
const BASE_WEIGHT: u64 = 128;

/// The SHA-256 of a document's text.
pub(crate) type Hash = [u8; 32];

/// The documents that clients may request by hash; documents that were not used for long make room
/// for others.
#[derive(Debug)]
pub struct PersistedQueries {
    known: Cache<Hash, Arc<str>, ByText>,
    /// The documents of other instances; `None` if each instance keeps its own.
    #[cfg(feature = "redis")]
    pub(crate) shared: Option<SharedPersistedQueries>,
}

#[derive(Debug, Clone)]
struct ByText;

impl Weighter<Hash, Arc<str>> for ByText {
    fn weight(&self, _: &Hash, text: &Arc<str>) -> u64 {
        BASE_WEIGHT + text.len() as u64
    }
}

impl Default for PersistedQueries {
    fn default() -> Self {
        Self {
            known: Cache::with_weighter(EXPECTED, CAPACITY, ByText),
            #[cfg(feature = "redis")]
            shared: None,
        }
    }
}

impl PersistedQueries {
    /// Shares the documents with other instances.
    #[cfg(feature = "redis")]
    pub fn shared_in(self, redis: &svc_core::RedisClient) -> Self {
        Self {
            shared: Some(SharedPersistedQueries::new(redis)),
            ..self
        }
    }

    /// Whether a document is cached.
    #[cfg(feature = "redis")]
    pub(crate) fn knows(&self, hash: &Hash) -> bool {
        self.known.get(hash).is_some()
    }

    /// The text of a cached document.
    ///
    /// # Errors
    /// If the document is not cached, or no longer cached: the client then sends the text as well.
    pub(crate) fn text(&self, hash: &Hash) -> Result<Arc<str>, RequestError> {
        // Clients recognize this message.
        let unknown =
            || RequestError::new(ErrorCode::PersistedQueryNotFound, "PersistedQueryNotFound");
        let known = self.known.get(hash);
        CacheType::PersistedQuery.looked_up(known.is_some());
        known.ok_or_else(unknown)
    }

    /// Caches a document that has passed validation.
    pub(crate) fn keep(&self, hash: Hash, text: impl FnOnce() -> Arc<str>) {
        // A client that sends hash and text with each request must not cause a write to Redis each
        // time.
        if self.known.get(&hash).is_none() {
            let text = text();
            #[cfg(feature = "redis")]
            if let Some(shared) = &self.shared {
                shared.keep(&hash, &text);
            }
            self.known.insert(hash, text);
        }
    }

    /// Loads a document from other instances. It is checked like any other before it runs.
    #[cfg(feature = "redis")]
    pub(crate) async fn learn(&self, hash: &Hash) {
        let Some(shared) = &self.shared else { return };
        if let Some(text) = shared.text(hash).await {
            self.known.insert(*hash, text);
        }
    }
}

/// Checks that a hash belongs to a text; otherwise a client could store its own text under the hash
/// of another client's document.
///
/// # Errors
/// If it does not.
pub(crate) fn check_hash(hash: &Hash, text: &str) -> Result<(), RequestError> {
    if Hash::from(Sha256::digest(text)) == *hash {
        return Ok(());
    }
    let message = "`extensions.persistedQuery.sha256Hash` is not the SHA-256 of `query`; send the right one, or none";
    Err(RequestError::new(ErrorCode::BadRequest, message))
}

/// The error if persisted queries are disabled.
pub(crate) fn not_supported() -> RequestError {
    RequestError::new(
        ErrorCode::PersistedQueryNotSupported,
        "PersistedQueryNotSupported",
    )
}
