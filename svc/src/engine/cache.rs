//! Prepared documents by their text, with their plans and the statements of those, in bounded memory.

use std::sync::Arc;

use ahash::RandomState;
use quick_cache::sync::Cache;
use quick_cache::{Lifecycle, Weighter};

use super::document::{Document, Planned};
use super::plan::Plan;
use super::request_error::RequestError;
use crate::application::Limits;
use crate::metrics::CacheType;
use crate::schema::Model;

/// The number of documents that room is made for at first. It also bounds the number of the cache's shards, each of
/// which has its share of the capacity.
const EXPECTED: usize = 256;
/// The part of the cache that a document may take with its plans and statements, as a divisor; more of them are made
/// anew each time.
const SHARE: u64 = 16;

/// Documents that need no parsing, validation and planning again.
///
/// A document gets heavier after it was put into the cache, and is then put there anew with its present weight. Also
/// those of registered operations join in with their plans, which they lose when they fall out.
#[derive(Debug)]
pub(crate) struct DocumentCache {
    entries: Cache<Arc<str>, Entry, ByWeight, RandomState, Evictions>,
    /// The most bytes of one document.
    share: u64,
    /// Whether errors of documents tell which names of the schema may have been meant.
    suggests: bool,
}

/// A document, and what it weighed when it was put here: the cache has to take off what it has added.
#[derive(Debug, Clone)]
struct Entry {
    document: Arc<Document>,
    weight: u64,
}

#[derive(Debug, Clone)]
struct ByWeight;

impl Weighter<Arc<str>, Entry> for ByWeight {
    fn weight(&self, _: &Arc<str>, entry: &Entry) -> u64 {
        entry.weight
    }
}

/// Hands out what falls out, so that it is dropped without a lock.
#[derive(Debug, Clone)]
struct Evictions;

impl Lifecycle<Arc<str>, Entry> for Evictions {
    type RequestState = Vec<Arc<Document>>;

    fn begin_request(&self) -> Self::RequestState {
        Vec::new()
    }

    fn on_evict(&self, evicted: &mut Self::RequestState, _: Arc<str>, entry: Entry) {
        evicted.push(entry.document);
    }
}

impl DocumentCache {
    /// An empty cache for `capacity` bytes.
    pub(crate) fn new(capacity: u64, suggests: bool) -> Self {
        let entries = Cache::with(EXPECTED, capacity, ByWeight, RandomState::new(), Evictions);
        Self { entries, share: capacity / SHARE, suggests }
    }

    /// The prepared document; invalid ones are not kept.
    pub(crate) fn get(&self, model: &Model, limits: &Limits, text: &str) -> Result<Arc<Document>, Vec<RequestError>> {
        let known = self.entries.get(text);
        CacheType::Document.looked_up(known.is_some());
        if let Some(entry) = known {
            return Ok(entry.document);
        }
        let document = Arc::new(Document::prepare(model, limits, text, self.suggests)?);
        self.put(&document, document.weight());
        Ok(document)
    }

    /// Keeps a plan with its document, if there is room; gives back the plan, and whether it is kept. A plan is kept only
    /// when its operation has passed all limits.
    pub(crate) fn keep(&self, document: &Arc<Document>, planned: Planned) -> (Arc<Plan>, bool) {
        let (key, plan) = match planned {
            Planned::Kept(plan) => return (plan, true),
            Planned::New(key, plan) => (key, plan),
        };
        let kept = self.change(document, plan.weight(), || document.keep(key, &plan));
        (plan, kept)
    }

    /// Changes what a document keeps, if there is room for `more` bytes; whether `change` did.
    pub(crate) fn change(&self, document: &Arc<Document>, more: usize, change: impl FnOnce() -> bool) -> bool {
        let changing = document.changing();
        if taken(document.weight() + more) > self.share || !change() {
            return false;
        }
        let evicted = self.insert(document, document.weight());
        // Letting go of the others' plans waits for those that change them, who may wait for this one.
        drop(changing);
        forget(&evicted, document);
        true
    }

    fn put(&self, document: &Arc<Document>, weight: usize) {
        forget(&self.insert(document, weight), document);
    }

    fn insert(&self, document: &Arc<Document>, weight: usize) -> Vec<Arc<Document>> {
        let entry = Entry { document: document.clone(), weight: taken(weight) };
        self.entries.insert_with_lifecycle(document.text.clone(), entry)
    }
}

/// Returns the memory that so many counted bytes take. The allocator's gaps, and the requests that put documents here,
/// take up to 40 % more (`cargo xtask bench soak`).
fn taken(weight: usize) -> u64 {
    (weight + weight / 2) as u64
}

/// Frees what fell out of the cache. What was replaced by itself is still in it.
fn forget(evicted: &[Arc<Document>], kept: &Arc<Document>) {
    for document in evicted.iter().filter(|document| !Arc::ptr_eq(document, kept)) {
        document.forget_plans();
    }
}
