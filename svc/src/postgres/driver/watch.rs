//! The time that a statement may go without its answer, for a server that stands still or a network that is gone.
//!
//! A timer for each statement would cost a place in a queue and two looks at the clock. A statement notes the beat at
//! which it began, and one task that makes the beats looks at the notes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Wake;
use std::time::Duration;

use crate::wake_flag::WakeFlag;

/// The beats of a deadline.
const BEATS: u32 = 16;
/// The shortest and the longest time between two beats.
const BEAT: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(500)];
/// In `Watch::since`: the statement is late.
const LATE: u32 = u32::MAX;

/// A connection, as the watchdog sees it. It is what wakes the request that uses the connection.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) woken: WakeFlag,
    /// The beat after the one at which the statement began; zero while none runs.
    since: AtomicU32,
}

impl Watch {
    /// A statement begins.
    pub(super) fn begin(&self, beat: u32) {
        self.since.store(beat.saturating_add(1), Ordering::Relaxed);
    }

    /// The statement has ended, or its end is waited for with another clock.
    pub(super) fn end(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// Whether the statement should have been answered by now.
    pub(super) fn is_late(&self) -> bool {
        self.since.load(Ordering::Relaxed) == LATE
    }

    fn look(&self, beat: u32, most: u32) {
        let since = self.since.load(Ordering::Relaxed);
        if since == 0 || beat.saturating_sub(since) < most {
            return;
        }
        // The statement may have ended meanwhile, and another one begun.
        if self.since.compare_exchange(since, LATE, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.woken.wake();
        }
    }
}

impl Wake for Watch {
    fn wake(self: Arc<Self>) {
        self.woken.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.wake();
    }
}

/// The connections that are watched, and the time in beats.
#[derive(Debug)]
pub(super) struct Watches {
    pub(super) beat: Duration,
    /// The most beats that a statement may take.
    most: u32,
    now: AtomicU32,
    all: Mutex<Vec<Weak<Watch>>>,
}

impl Watches {
    /// For statements that may take so long.
    pub(super) fn new(deadline: Duration) -> Self {
        let beat = (deadline / BEATS).clamp(BEAT[0], BEAT[1]);
        let most = u32::try_from(deadline.as_nanos().div_ceil(beat.as_nanos())).unwrap_or(LATE);
        Self { beat, most, now: AtomicU32::new(0), all: Mutex::default() }
    }

    /// The number of the last beat.
    pub(super) fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// Watches a connection for as long as there is one.
    pub(super) fn add(&self, watch: &Arc<Watch>) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(watch));
    }

    pub(super) fn look(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|watch| {
            watch.upgrade().is_some_and(|watch| {
                watch.look(now, self.most);
                true
            })
        });
    }
}
