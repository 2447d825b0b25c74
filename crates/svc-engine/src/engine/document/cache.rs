//! A bounded cache of prepared documents by their text, with their plans and the statements of the
//! plans.

use std::sync::Arc;

use ahash::RandomState;
use quick_cache::sync::Cache;
use quick_cache::{Lifecycle, Weighter};

use super::{Document, Planned};
use crate::application::Limits;
use crate::engine::error::RequestError;
use crate::engine::plan::Plan;
use svc_core::schema::Model;
use svc_telemetry::metrics::CacheType;

/// The initial capacity in documents. It also bounds the number of the cache's shards, each with
/// its share of the capacity.
const EXPECTED: usize = 256;
/// The largest share of the cache for one document with its plans and statements, as a divisor;
/// beyond it, plans and statements are rebuilt each time.
const SHARE: u64 = 16;

/// Documents that need no further parsing, validation and planning.
///
/// A document that gets heavier after its insertion is inserted again with its current weight.
/// Documents of registered operations are included with their plans, and lose the plans when they
/// are evicted.
#[derive(Debug)]
pub struct DocumentCache {
    entries: Cache<Arc<str>, Entry, ByWeight, RandomState, Evictions>,
    /// The maximum size of one document in bytes.
    share: u64,
    /// Whether errors in documents suggest similar names from the schema.
    suggests: bool,
}

/// A document and its weight at insertion: the cache must subtract the same weight that it added.
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

/// Returns the evicted documents, so that they are dropped without holding a lock.
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
    pub fn new(capacity: u64, suggests: bool) -> Self {
        let entries = Cache::with(EXPECTED, capacity, ByWeight, RandomState::new(), Evictions);
        Self {
            entries,
            share: capacity / SHARE,
            suggests,
        }
    }

    /// Returns the prepared document. Invalid documents are not cached.
    pub(crate) fn get(
        &self,
        model: &Model,
        limits: &Limits,
        text: &str,
    ) -> Result<Arc<Document>, Vec<RequestError>> {
        let known = self.entries.get(text);
        CacheType::Document.looked_up(known.is_some());
        if let Some(entry) = known {
            return Ok(entry.document);
        }
        let document = Arc::new(Document::prepare(model, limits, text, self.suggests)?);
        self.put(&document, document.weight());
        Ok(document)
    }

    /// Caches a plan with its document if there is room. Returns the plan, and whether it is
    /// cached. A plan is cached only when its operation has passed all limits.
    pub(crate) fn keep(&self, document: &Arc<Document>, planned: Planned) -> (Arc<Plan>, bool) {
        let (key, plan) = match planned {
            Planned::Kept(plan) => return (plan, true),
            Planned::New(key, plan) => (key, plan),
        };
        let kept = self.change(document, plan.weight(), || document.keep(key, &plan));
        (plan, kept)
    }

    /// Runs `change` on the cached plans or statements of a document if there is room for `more`
    /// bytes. Returns whether it changed them.
    pub(crate) fn change(
        &self,
        document: &Arc<Document>,
        more: usize,
        change: impl FnOnce() -> bool,
    ) -> bool {
        // The weight is read under the lock: otherwise two requests could both take the last room.
        let changing = document.changing();
        if taken(document.weight() + more) > self.share || !change() {
            return false;
        }

        let evicted = self.insert(document, document.weight());

        // Unlock first: dropping the plans of evicted documents waits for their locks, whose
        // holders may wait for this one.
        drop(changing);
        forget(&evicted, document);

        true
    }

    fn put(&self, document: &Arc<Document>, weight: usize) {
        forget(&self.insert(document, weight), document);
    }

    fn insert(&self, document: &Arc<Document>, weight: usize) -> Vec<Arc<Document>> {
        let entry = Entry {
            document: document.clone(),
            weight: taken(weight),
        };
        self.entries
            .insert_with_lifecycle(document.text.clone(), entry)
    }
}

/// Returns the memory that `weight` counted bytes take. The allocator's gaps, and the requests that
/// insert documents, take up to 40 % more (`cargo xtask bench soak`).
fn taken(weight: usize) -> u64 {
    (weight + weight / 2) as u64
}

/// Frees the plans of evicted documents. A document that was replaced by itself is still cached.
fn forget(evicted: &[Arc<Document>], kept: &Arc<Document>) {
    for document in evicted
        .iter()
        .filter(|document| !Arc::ptr_eq(document, kept))
    {
        document.forget_plans();
    }
}
