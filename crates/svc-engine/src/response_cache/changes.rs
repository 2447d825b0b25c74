//! The changes of rows, counted: a response is stale once a type that it was read from has changed
//! since it was started, or anything else that determines the result of a read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use svc_core::schema::TypeIndex;
use svc_postgres::SchemaVersion;

/// A moment: the number of changes before it, and the version of the database's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    changes: u64,
    schema: u64,
}

/// The last change of each type.
#[derive(Debug)]
pub(super) struct Changes {
    clock: AtomicU64,
    types: Box<[AtomicU64]>,
    everything: AtomicU64,
    schema: Arc<SchemaVersion>,
}

impl Changes {
    /// Creates a clock without changes for this number of types.
    pub(super) fn new(types: usize) -> Self {
        let types = (0..types).map(|_| AtomicU64::new(0)).collect();
        Self {
            clock: AtomicU64::new(0),
            types,
            everything: AtomicU64::new(0),
            schema: Arc::default(),
        }
    }

    /// Returns the current moment. Reads from now on see all changes so far.
    pub(super) fn now(&self) -> Moment {
        Moment {
            changes: self.clock.load(Ordering::SeqCst),
            schema: self.schema.number(),
        }
    }

    /// Returns the shared version of the schema.
    pub(super) fn schema_version(&self) -> &Arc<SchemaVersion> {
        &self.schema
    }

    /// Whether changes of the schema are detected.
    pub(super) fn are_seen(&self) -> bool {
        self.schema.is_known()
    }

    /// Records that rows of these types have changed.
    pub(super) fn change(&self, types: &[TypeIndex]) {
        let now = self.tick();
        for changed in types.iter().filter_map(|index| self.types.get(*index)) {
            // Concurrent changes may get here in another order than that of their numbers.
            changed.fetch_max(now, Ordering::SeqCst);
        }
    }

    /// Records that anything may have changed.
    pub(super) fn change_everything(&self) {
        self.everything.fetch_max(self.tick(), Ordering::SeqCst);
    }

    /// Whether rows of these types that were read since `moment` are still current.
    pub(super) fn are_none_since(&self, moment: Moment, types: &[TypeIndex]) -> bool {
        let is_before = |changed: &AtomicU64| changed.load(Ordering::SeqCst) <= moment.changes;
        moment.schema == self.schema.number()
            && is_before(&self.everything)
            && types
                .iter()
                .filter_map(|index| self.types.get(*index))
                .all(is_before)
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::Changes;

    #[test]
    fn an_answer_is_old_once_one_of_its_types_has_changed() {
        let changes = Changes::new(3);
        let first = changes.now();
        assert!(changes.are_none_since(first, &[0, 1, 2]));
        changes.change(&[1]);
        assert!(changes.are_none_since(first, &[0, 2]));
        assert!(!changes.are_none_since(first, &[0, 1]));
        let second = changes.now();
        assert!(changes.are_none_since(second, &[0, 1, 2]));
        changes.change_everything();

        assert!(!changes.are_none_since(second, &[]));
    }
}
