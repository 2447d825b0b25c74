//! When the database last changed.

use std::sync::{Arc, Mutex, PoisonError};
#[cfg(feature = "sqlx")]
use std::time::Duration;

use tokio::time::Instant;

/// When a change was last detected.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastChange(Arc<Mutex<Option<Instant>>>);

impl LastChange {
    /// Whether it was before a connection of this age was opened.
    #[cfg(feature = "sqlx")]
    pub(crate) fn is_before(&self, age: Duration) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none_or(|last| age < last.elapsed())
    }

    pub(crate) fn is_now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}
