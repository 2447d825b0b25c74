//! The version of the database's schema, for caches of its rows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The version of everything but the rows themselves that decides the rows of reads: views,
/// functions, policies, grants, roles, and the server. Results of one version are not valid for
/// another.
///
/// There is no version while the database is not in use, as changes could not be seen.
#[derive(Debug)]
pub struct SchemaVersion {
    /// Odd while there is no version.
    number: AtomicU64,
    /// The fingerprint of the version, the same in all instances.
    fingerprint: Mutex<Arc<str>>,
}

impl Default for SchemaVersion {
    fn default() -> Self {
        Self {
            number: AtomicU64::new(1),
            fingerprint: Mutex::new(Arc::from("")),
        }
    }
}

impl SchemaVersion {
    /// Returns the number of the version. It changes with each detected change, and while the
    /// database is not in use.
    pub fn number(&self) -> u64 {
        self.number.load(Ordering::SeqCst)
    }

    /// Whether the database is in use and its state is loaded.
    pub fn is_known(&self) -> bool {
        self.number().is_multiple_of(2)
    }

    /// Returns the fingerprint of the current or last version.
    #[cfg(any(feature = "redis", test))]
    pub fn fingerprint(&self) -> Arc<str> {
        self.locked().clone()
    }

    /// Ends the version: the database has changed, or is not in use.
    pub(super) fn end(&self) {
        // `note` reads and replaces the number in two steps under this lock.
        let _known = self.locked();
        self.number.fetch_or(1, Ordering::SeqCst);
    }

    /// Records the fingerprint of the database as read. A version that has ended does not come
    /// back.
    pub(super) fn note(&self, fingerprint: &str) {
        let mut known = self.locked();
        if self.is_known() && **known == *fingerprint {
            return;
        }
        *known = Arc::from(fingerprint);
        // The next even number: from an odd one by 1, from an even one by 2.
        self.number.store((self.number() | 1) + 1, Ordering::SeqCst);
    }

    /// The code under the lock cannot panic half-way.
    fn locked(&self) -> MutexGuard<'_, Arc<str>> {
        self.fingerprint
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::SchemaVersion;

    #[test]
    fn a_version_lasts_until_a_change_or_the_end_of_use() {
        let version = SchemaVersion::default();
        assert!(!version.is_known());
        version.note("one");
        let first = version.number();
        assert!(version.is_known());
        version.note("one");
        assert_eq!(version.number(), first);
        version.note("two");
        assert!(version.is_known() && version.number() > first && &*version.fingerprint() == "two");
        let second = version.number();
        version.end();
        version.end();
        assert!(!version.is_known());
        version.note("two");

        assert!(version.is_known() && version.number() > second);
    }
}
