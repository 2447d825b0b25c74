//! The deadline for a statement's response, for a server that hangs or a network that is down.
//!
//! A timer for each statement would cost a queue entry and two clock reads. Instead, a statement
//! records the beat at which it began, and a single task produces the beats and checks the records.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Wake;
use std::time::Duration;

use svc_core::beats::{MAX_BEATS, beats_between};
use svc_core::task::wake_flag::WakeFlag;

/// The number of beats in a deadline.
const BEATS: u32 = 16;
/// The minimum and maximum time between two beats.
const BEAT: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(500)];
/// In `Watch::since`: the statement is late.
const LATE: u32 = u32::MAX;

/// The watchdog's record of a connection, which is also the waker of the request using it.
#[derive(Debug, Default)]
pub(in crate::driver) struct Watch {
    pub(super) woken: WakeFlag,
    /// The beat after the one at which the statement began; zero while none runs.
    since: AtomicU32,
}

impl Watch {
    /// Records that a statement begins.
    pub(in crate::driver) fn begin(&self, beat: u32) {
        // Two numbers have another meaning; one beat more does not matter.
        let since = match beat.wrapping_add(1) {
            0 | LATE => 1,
            since => since,
        };
        self.since.store(since, Ordering::Relaxed);
    }

    /// Records that the statement has ended, or that another timer covers its end.
    pub(in crate::driver) fn end(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// Whether the statement's response is overdue.
    pub(super) fn is_late(&self) -> bool {
        self.since.load(Ordering::Relaxed) == LATE
    }

    /// Whether the statement has become late.
    fn look(&self, beat: u32, most: u32) -> bool {
        let since = self.since.load(Ordering::Relaxed);
        if matches!(since, 0 | LATE) || beats_between(since, beat) < most {
            return false;
        }

        // The statement may have ended meanwhile, and another one begun.
        self.since
            .compare_exchange(since, LATE, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
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

/// The watched connections, and the time in beats.
#[derive(Debug)]
pub(in crate::driver) struct Watches {
    pub(in crate::driver) beat: Duration,
    /// The maximum number of beats that a statement may take.
    most: u32,
    now: AtomicU32,
    all: Mutex<Vec<Weak<Watch>>>,
}

impl Watches {
    /// For statements that may take up to `deadline`.
    pub(in crate::driver) fn new(deadline: Duration) -> Self {
        let beat = (deadline / BEATS).clamp(BEAT[0], BEAT[1]);
        let most =
            u32::try_from(deadline.as_nanos().div_ceil(beat.as_nanos())).unwrap_or(MAX_BEATS);
        Self {
            beat,
            most: most.min(MAX_BEATS),
            now: AtomicU32::new(0),
            all: Mutex::default(),
        }
    }

    /// The number of the current beat.
    pub(in crate::driver) fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// Watches a connection until it is dropped.
    pub(in crate::driver) fn add(&self, watch: &Arc<Watch>) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::downgrade(watch));
    }

    pub(in crate::driver) fn look(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let mut late = Vec::new();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|watch| {
            watch.upgrade().is_some_and(|watch| {
                if watch.look(now, self.most) {
                    late.push(watch);
                }
                true
            })
        });

        // Woken after the lock is released, because a waker may run any code of the runtime.
        drop(all);
        late.iter().for_each(|watch| watch.woken.wake());
    }
}
