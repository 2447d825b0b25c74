//! The progress of a client.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The reference time of all records.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The bytes that a client has accepted so far, and the time of the last progress. Only the
/// connection's task writes it.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    bytes: AtomicU64,
    /// In milliseconds; 0 before the first progress.
    at: AtomicU64,
}

impl Taken {
    /// Records the total of accepted bytes, as of now.
    pub(crate) fn note(&self, bytes: u64) {
        let millis = u64::try_from(BEGAN.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.at.store(millis.max(1), Ordering::Relaxed);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn at(&self) -> Option<Instant> {
        let millis = self.at.load(Ordering::Relaxed);
        (millis > 0).then(|| *BEGAN + Duration::from_millis(millis))
    }
}
