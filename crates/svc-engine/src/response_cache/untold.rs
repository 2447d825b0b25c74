//! Changes that are yet to be announced.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use svc_core::schema::TypeIndex;

/// The pause before a failed announcement is retried.
const RETRY: Duration = Duration::from_secs(1);

/// The types whose changes are yet to be announced. The announcement is retried until it succeeds.
#[derive(Debug, Default)]
pub(super) struct PendingInvalidations {
    types: Mutex<Types>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Types {
    waiting: BTreeSet<TypeIndex>,
    /// The types whose changes are being announced.
    told: BTreeSet<TypeIndex>,
}

impl PendingInvalidations {
    /// Adds types that have changed.
    pub(super) fn add(&self, types: &[TypeIndex]) {
        self.locked().waiting.extend(types);

        // `notify_one` stores a permit, so a change between the check in `take` and its wait is not
        // missed.
        self.wake.notify_one();
    }

    /// Whether a change of one of these types is yet to be announced.
    #[cfg(feature = "redis")]
    pub(super) fn concern(&self, types: &[TypeIndex]) -> bool {
        let untold = self.locked();
        types
            .iter()
            .any(|index| untold.waiting.contains(index) || untold.told.contains(index))
    }

    /// Waits for changes, and takes them for the announcement.
    pub(super) async fn take(&self) -> Vec<TypeIndex> {
        loop {
            {
                let mut types = self.locked();
                let Types { waiting, told } = &mut *types;

                // After a failure `told` still has its types, which are announced again together
                // with the new ones. A change during an announcement stays in `waiting`, so `done`
                // does not drop it.
                told.append(waiting);
                if !told.is_empty() {
                    return told.iter().copied().collect();
                }
            }
            self.wake.notified().await;
        }
    }

    /// Records that the taken changes are announced.
    pub(super) fn done(&self) {
        self.locked().told.clear();
    }

    /// The taken changes could not be announced; returns when the announcement may be retried.
    pub(super) async fn failed(&self) {
        tokio::time::sleep(RETRY).await;
    }

    /// Nothing under the lock can panic half-way.
    fn locked(&self) -> MutexGuard<'_, Types> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
