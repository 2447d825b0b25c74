//! The root fields that statements belong to.
//!
//! `pg_stat_statements` identifies a statement by a number that PostgreSQL derives from its parsed
//! form, and contains its text with constants replaced. svc has the text that it has sent. Both
//! texts are normalized and compared.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Mutex, OnceLock, PoisonError};

use ahash::RandomState;
use lru::LruCache;

use super::normalize::normalized;

/// The maximum number of statements whose root fields are remembered.
const STATEMENTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);

/// The maximum number of root fields per statement.
const FIELDS: usize = 16;

tokio::task_local! {
    /// The root field that is running.
    static ROOT_FIELD: String;
}

static ATTRIBUTION: OnceLock<Attribution> = OnceLock::new();

/// The root fields of the statements that have run.
struct Attribution {
    hasher: RandomState,
    known: Mutex<Known>,
}

struct Known {
    /// Hashes of the pairs of statements and root fields that have been recorded already.
    seen: LruCache<u64, ()>,
    /// The root fields, by the hash of the normalized text.
    fields: LruCache<u64, BTreeSet<String>>,
}

/// Starts recording which root field runs which statement.
pub(super) fn start_attributing() {
    ATTRIBUTION.get_or_init(|| Attribution {
        hasher: RandomState::new(),
        known: Mutex::new(Known {
            seen: LruCache::new(STATEMENTS),
            fields: LruCache::new(STATEMENTS),
        }),
    });
}

/// Whether root fields are recorded.
pub fn is_attributing() -> bool {
    ATTRIBUTION.get().is_some()
}

/// Runs a root field and attributes its statements to it.
pub async fn attribute<T>(coordinate: &str, run: impl Future<Output = T>) -> T {
    ROOT_FIELD.scope(coordinate.to_owned(), run).await
}

/// Records a statement that runs.
pub fn ran(sql: &str) {
    if let Some(attribution) = ATTRIBUTION.get() {
        // A statement outside of root fields is not attributed.
        let _ = ROOT_FIELD.try_with(|field| attribution.note(sql, field));
    }
}

/// Returns the root fields that have run a statement, by its text in PostgreSQL.
pub(super) fn root_fields(sql: &str) -> Vec<String> {
    let Some(Attribution { hasher, known }) = ATTRIBUTION.get() else {
        return Vec::new();
    };
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let fields = known.fields.get(&hasher.hash_one(normalized(sql)));
    fields.into_iter().flatten().cloned().collect()
}

impl Attribution {
    fn note(&self, sql: &str, field: &str) {
        // Two pairs with the same hash would only hide one root field from the statistics.
        let seen = self.hasher.hash_one((sql, field));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);

        // Normalizing a text costs more than hashing it, so it is done only once for each field.
        if known.seen.put(seen, ()).is_some() {
            return;
        }

        let statement = self.hasher.hash_one(normalized(sql));
        let fields = known.fields.get_or_insert_mut(statement, BTreeSet::new);

        if fields.len() < FIELDS {
            fields.insert(field.to_owned());
        }
    }
}
