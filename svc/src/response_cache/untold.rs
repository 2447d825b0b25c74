//! Changes of which others are still to be told.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::schema::TypeIndex;

/// The pause after which telling is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The types whose change others are to be told of. Telling goes on until it has succeeded.
#[derive(Debug, Default)]
pub(super) struct Untold {
    types: Mutex<Types>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Types {
    waiting: BTreeSet<TypeIndex>,
    /// Those that are being told of.
    told: BTreeSet<TypeIndex>,
}

impl Untold {
    /// Adds types that have changed.
    pub(super) fn add(&self, types: &[TypeIndex]) {
        self.locked().waiting.extend(types);
        self.wake.notify_one();
    }

    /// Whether one of these types has changed, and the others do not know.
    #[cfg(feature = "redis")]
    pub(super) fn concern(&self, types: &[TypeIndex]) -> bool {
        let untold = self.locked();
        types.iter().any(|index| untold.waiting.contains(index) || untold.told.contains(index))
    }

    /// Waits for changes and takes them to tell of.
    pub(super) async fn take(&self) -> Vec<TypeIndex> {
        loop {
            {
                let mut types = self.locked();
                let Types { waiting, told } = &mut *types;
                told.append(waiting);
                if !told.is_empty() {
                    return told.iter().copied().collect();
                }
            }
            self.wake.notified().await;
        }
    }

    /// Those that were taken are told of.
    pub(super) fn done(&self) {
        self.locked().told.clear();
    }

    /// Those that were taken could not be told of; returns when it may be tried again.
    pub(super) async fn failed(&self) {
        tokio::time::sleep(RETRY).await;
    }

    /// Nothing under the lock can panic half-way.
    fn locked(&self) -> MutexGuard<'_, Types> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
