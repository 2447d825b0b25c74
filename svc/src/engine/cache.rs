//! Prepared documents by their text, bounded by their size.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::document::Document;
use super::limits::Limits;
use super::request_error::RequestError;
use crate::schema::Model;

/// What the cache may hold: bytes of document text.
const CAPACITY: u64 = 8 << 20;
/// How many documents to make room for at first.
const EXPECTED: usize = 512;
/// What a document weighs besides its text.
const BASE_WEIGHT: u64 = 2_048;

/// Documents that need no parsing, validation and planning again.
#[derive(Debug)]
pub(crate) struct DocumentCache(Cache<Arc<str>, Arc<Document>, ByText>);

#[derive(Debug, Clone)]
struct ByText;

impl Weighter<Arc<str>, Arc<Document>> for ByText {
    fn weight(&self, text: &Arc<str>, _: &Arc<Document>) -> u64 {
        BASE_WEIGHT + text.len() as u64
    }
}

impl Default for DocumentCache {
    fn default() -> Self {
        Self(Cache::with_weighter(EXPECTED, CAPACITY, ByText))
    }
}

impl DocumentCache {
    /// The prepared document; invalid ones are not kept.
    pub(crate) fn get(&self, model: &Model, limits: &Limits, text: &str) -> Result<Arc<Document>, Vec<RequestError>> {
        if let Some(document) = self.0.get(text) {
            return Ok(document);
        }
        let document = Arc::new(Document::prepare(model, limits, text)?);
        self.0.insert(document.text.clone(), document.clone());
        Ok(document)
    }
}
