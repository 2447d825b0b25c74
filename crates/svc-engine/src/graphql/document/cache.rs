//! A bounded cache of prepared documents by their text, or by their text without literals, with
//! their plans and the statements of the plans. Texts that are repeated are cached with their
//! literals.

use std::sync::{Arc, Mutex, PoisonError};

use ahash::RandomState;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Lifecycle, Weighter};

use super::literals::{Binding, Masked};
use super::repeated::{RecentTexts, RepeatedText};
use super::{Document, Found, Planned};
use crate::graphql::error::RequestError;
use crate::graphql::plan::Plan;
use crate::limits::Limits;
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
    entries: Cache<Key, Entry, ByWeight, RandomState, Evictions>,
    /// Locked while a document is compared with the cached one and inserted.
    inserting: Mutex<()>,
    /// The texts that were masked recently.
    recent: RecentTexts,
    /// The maximum size of one document in bytes.
    share: u64,
    /// Whether errors in documents suggest similar names from the schema.
    suggests: bool,
}

/// The text of a document. A masked text is never taken for a text that a client sends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    text: Arc<str>,
    is_masked: bool,
}

/// A borrowed `Key`, with the same hash.
#[derive(Debug, Hash)]
struct KeyRef<'a> {
    text: &'a str,
    is_masked: bool,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.is_masked == key.is_masked && *self.text == *key.text
    }
}

/// A cached value and its weight at insertion: the cache must subtract the same weight that it
/// added.
#[derive(Debug, Clone)]
struct Entry {
    held: Held,
    weight: u64,
}

#[derive(Debug, Clone)]
enum Held {
    Document(Arc<Document>),
    /// A text that shares a document, which has its own entry.
    Text(Arc<RepeatedText>),
}

impl Entry {
    fn document(&self) -> Option<&Arc<Document>> {
        match &self.held {
            Held::Document(document) => Some(document),
            Held::Text(_) => None,
        }
    }
}

#[derive(Debug, Clone)]
struct ByWeight;

impl Weighter<Key, Entry> for ByWeight {
    fn weight(&self, _: &Key, entry: &Entry) -> u64 {
        entry.weight
    }
}

/// Returns the evicted entries, so that they are dropped without holding a lock.
#[derive(Debug, Clone)]
struct Evictions;

impl Lifecycle<Key, Entry> for Evictions {
    type RequestState = Vec<Entry>;

    fn begin_request(&self) -> Self::RequestState {
        Vec::new()
    }

    fn on_evict(&self, evicted: &mut Self::RequestState, _: Key, entry: Entry) {
        evicted.push(entry);
    }
}

impl DocumentCache {
    /// An empty cache for `capacity` bytes.
    pub fn new(capacity: u64, suggests: bool) -> Self {
        let entries = Cache::with(EXPECTED, capacity, ByWeight, RandomState::new(), Evictions);
        Self {
            entries,
            inserting: Mutex::new(()),
            recent: RecentTexts::new(),
            share: capacity / SHARE,
            suggests,
        }
    }

    /// Returns the prepared document, with the literals of the text if texts with others share the
    /// document. Invalid documents are not cached.
    pub(crate) fn get(
        &self,
        model: &Model,
        limits: &Limits,
        text: &str,
    ) -> Result<Found, Vec<RequestError>> {
        if let Some(found) = self.by_text(text) {
            CacheType::Document.looked_up(true);
            return Ok(found);
        }

        self.shared_or_new(model, limits, text)
    }

    /// The same for a text that is not cached as it was sent. Not inlined, because most texts are.
    #[inline(never)]
    fn shared_or_new(
        &self,
        model: &Model,
        limits: &Limits,
        text: &str,
    ) -> Result<Found, Vec<RequestError>> {
        let masked = Masked::of(text);
        let key = match masked.as_ref().map(|masked| self.shared(model, masked)) {
            Some(Ok(found)) => {
                self.keep_text(&found);
                CacheType::Document.looked_up(true);
                return Ok(found);
            }
            Some(Err(key)) => key,
            None => None,
        };

        CacheType::Document.looked_up(false);
        let document = Document::prepare(model, limits, text, self.suggests)?;
        let (document, literals) = match masked.zip(key) {
            Some((masked, key)) => document.share(model, &masked, key),
            None => (document, None),
        };

        let document = Arc::new(document);
        self.put(&document);

        Ok(Found { document, literals })
    }

    /// Returns the document that a text shares with texts of other literals.
    ///
    /// # Errors
    /// The key for such a document, if there is none yet; `None` if the text needs a document of its
    /// own.
    fn shared(&self, model: &Model, masked: &Masked<'_>) -> Result<Found, Option<Arc<str>>> {
        let bound = |document: Arc<Document>| match document.bind(model, masked) {
            Binding::Bound(literals) => Ok(Found {
                document,
                literals: Some(literals),
            }),
            Binding::Differs => Err(Some(document)),
            Binding::Refused => Err(None),
        };

        let Some(document) = self.masked(&masked.key) else {
            return Err(Some(masked.key.as_str().into()));
        };
        let other = match bound(document) {
            Err(Some(other)) => other,
            found => return found.map_err(|_| None),
        };

        // The literals that are not lifted are the same for all texts with this masked text, so the
        // narrower keys do not depend on the document that came first.
        let key = other.narrower_key(masked);
        match self.masked(&key) {
            None => Err(Some(key.into())),
            Some(document) => bound(document).map_err(|_| None),
        }
    }

    /// Returns the document of a text that is cached as it was sent.
    fn by_text(&self, text: &str) -> Option<Found> {
        let is_masked = false;
        match self.entries.get(&KeyRef { text, is_masked })?.held {
            Held::Document(document) => Some(document.into()),
            Held::Text(repeated) => repeated.bound(self.masked(&repeated.key)?),
        }
    }

    /// Returns the document of a masked text.
    fn masked(&self, text: &str) -> Option<Arc<Document>> {
        let is_masked = true;
        let entry = self.entries.get(&KeyRef { text, is_masked })?;
        entry.document().cloned()
    }

    /// Caches a text with its literals if it was sent before, so that it need not be masked again.
    fn keep_text(&self, found: &Found) {
        if !self.recent.note(found.text()) {
            return;
        }
        let Some(repeated) = RepeatedText::new(found) else {
            return;
        };

        let weight = taken(repeated.weight());
        if weight > self.share {
            return;
        }

        let key = Key {
            text: repeated.text().clone(),
            is_masked: false,
        };
        let held = Held::Text(Arc::new(repeated));
        let entry = Entry { held, weight };
        self.forget(&self.entries.insert_with_lifecycle(key, entry));
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
    /// bytes, and no newer document of the same text is cached. Returns whether it changed them.
    pub(crate) fn change(
        &self,
        document: &Arc<Document>,
        more: usize,
        change: impl FnOnce() -> bool,
    ) -> bool {
        // The weight is read under the lock: otherwise two requests could both take the last room.
        let changing = document.changing();
        if taken(document.weight() + more) > self.share {
            return false;
        }
        let Some(evicted) = self.insert(document, change) else {
            return false;
        };

        // Unlock first: dropping the plans of evicted documents waits for their locks, whose
        // holders may wait for this one.
        drop(changing);
        self.forget(&evicted);

        true
    }

    /// Caches a document that was just prepared.
    fn put(&self, document: &Arc<Document>) {
        if let Some(evicted) = self.insert(document, || true) {
            self.forget(&evicted);
        }
    }

    /// Runs `change`, and inserts the document with its weight after it. Returns the evicted
    /// entries; `None` if `change` did nothing, or a newer document of the same text is cached.
    ///
    /// Requests keep documents that are evicted meanwhile, and may change them after another
    /// request has prepared the same text again. The newer document keeps its place and its plans.
    fn insert(
        &self,
        document: &Arc<Document>,
        change: impl FnOnce() -> bool,
    ) -> Option<Vec<Entry>> {
        let key = Key::of(document);
        let _inserting = self
            .inserting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);

        let known = self.entries.peek(&key);
        let known = known.as_ref().and_then(Entry::document);
        if known.is_some_and(|known| known.number > document.number) || !change() {
            return None;
        }

        let entry = Entry {
            held: Held::Document(document.clone()),
            weight: taken(document.weight()),
        };

        Some(self.entries.insert_with_lifecycle(key, entry))
    }

    /// Frees the plans of evicted documents that are no longer cached. A document is also evicted
    /// when it replaces itself, and may be inserted again before its plans are freed.
    fn forget(&self, evicted: &[Entry]) {
        for document in evicted.iter().filter_map(Entry::document) {
            let _changing = document.changing();
            if !self.has(document) {
                document.forget_plans();
            }
        }
    }

    fn has(&self, document: &Arc<Document>) -> bool {
        let known = self.entries.peek(&Key::of(document));
        let known = known.as_ref().and_then(Entry::document);
        known.is_some_and(|known| Arc::ptr_eq(known, document))
    }
}

impl Key {
    fn of(document: &Document) -> Self {
        let text = document
            .shared
            .as_ref()
            .map_or(&document.text, |shared| &shared.key);
        Self {
            text: text.clone(),
            is_masked: document.shared.is_some(),
        }
    }
}

/// Returns the memory that `weight` counted bytes take. The allocator's gaps, and the requests that
/// insert documents, take up to 40 % more (`cargo xtask bench soak`).
fn taken(weight: usize) -> u64 {
    (weight + weight / 2) as u64
}
