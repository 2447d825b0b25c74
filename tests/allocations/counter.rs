//! The count of a thread's allocations, and whether the thread is idle.

use std::backtrace::Backtrace;
use std::fmt;
use std::ops::Sub;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use svc_tests::raw::PATIENCE;

/// The pause between two looks at whether the thread is idle.
const PAUSE: Duration = Duration::from_micros(50);

/// The counter of one thread. Other threads read it.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    allocations: AtomicU64,
    reallocations: AtomicU64,
    bytes: AtomicU64,
    is_idle: AtomicBool,
    /// Whether each allocation is kept with its place.
    is_traced: AtomicBool,
    traced: Mutex<Vec<Allocation>>,
}

/// A number of allocations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) allocations: u64,
    pub(crate) reallocations: u64,
    /// The requested bytes. They depend on the layouts that the compiler chooses, so that they are
    /// shown and not recorded.
    #[serde(skip)]
    pub(crate) bytes: u64,
}

/// The kind of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Allocation,
    Reallocation,
}

/// An allocation with its place.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) kind: Kind,
    pub(crate) bytes: usize,
    pub(crate) place: Backtrace,
}

impl Counter {
    /// Counts an allocation of the thread.
    pub(crate) fn note(&self, kind: Kind, bytes: usize) {
        let number = match kind {
            Kind::Allocation => &self.allocations,
            Kind::Reallocation => &self.reallocations,
        };
        number.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);

        // A request that captures a backtrace itself, as for an error, must not be traced: the
        // standard library would wait for its own lock.
        if self.is_traced.load(Ordering::Relaxed) {
            let place = Backtrace::force_capture();
            let allocation = Allocation { kind, bytes, place };
            self.traced().push(allocation);
        }
    }

    /// Returns the counts so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            allocations: self.allocations.load(Ordering::Relaxed),
            reallocations: self.reallocations.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Records whether the thread has nothing to do.
    pub(crate) fn set_idle(&self, is_idle: bool) {
        self.is_idle.store(is_idle, Ordering::Release);
    }

    /// Waits until the thread has nothing to do.
    pub(crate) fn until_idle(&self) {
        let start = Instant::now();
        while !self.is_idle.load(Ordering::Acquire) {
            assert!(start.elapsed() < PATIENCE, "the server is still busy");
            thread::sleep(PAUSE);
        }
    }

    /// Returns the allocations of the thread during some work.
    pub(crate) fn trace(&self, work: impl FnOnce()) -> Vec<Allocation> {
        self.is_traced.store(true, Ordering::Relaxed);
        work();
        self.until_idle();
        self.is_traced.store(false, Ordering::Relaxed);

        std::mem::take(&mut *self.traced())
    }

    fn traced(&self) -> MutexGuard<'_, Vec<Allocation>> {
        self.traced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// Whether there are more allocations, or more reallocations.
    pub(crate) fn exceed(self, other: Self) -> bool {
        self.allocations > other.allocations || self.reallocations > other.reallocations
    }
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            allocations: self.allocations - other.allocations,
            reallocations: self.reallocations - other.reallocations,
            bytes: self.bytes - other.bytes,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            allocations,
            reallocations,
            ..
        } = self;
        write!(
            f,
            "{allocations} allocations, {reallocations} reallocations"
        )
    }
}
