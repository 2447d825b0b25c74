//! A waker that remembers that it was woken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use futures_util::task::AtomicWaker;

/// A waker that wakes the task registered last, and remembers that it was woken. A task may also be
/// polled for other reasons, and then need not check again for the event that it waits for.
#[derive(Debug, Default)]
pub struct WakeFlag {
    task: AtomicWaker,
    woken: AtomicBool,
}

impl WakeFlag {
    /// Registers the task to wake, and returns whether it was woken since the last call. Each poll
    /// of the task must call it: a wake uses the registration up, and may do so after its flag was
    /// read.
    pub fn take_wake(&self, waker: &Waker) -> bool {
        // Registered first: a wake between the two steps would otherwise be lost.
        self.task.register(waker);
        self.woken.swap(false, Ordering::Acquire)
    }

    /// Records a wake without waking, for a task that is already running.
    #[cfg(feature = "websocket")]
    pub fn remember(&self) {
        self.woken.store(true, Ordering::Release);
    }

    /// Wakes the registered task.
    pub fn wake(&self) {
        // Stored first, because the woken task reads the flag.
        self.woken.store(true, Ordering::Release);
        self.task.wake();
    }

    /// Unregisters the task.
    pub fn leave(&self) {
        self.task.take();
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        WakeFlag::wake(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        WakeFlag::wake(self);
    }
}
