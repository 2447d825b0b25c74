//! Who waits, and whether there is reason to go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use futures_util::task::AtomicWaker;

/// A waker that stands for whoever waits now, and remembers that it was woken. A task is polled for other reasons as
/// well, and what it waits for needs not be looked at each time.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    task: AtomicWaker,
    woken: AtomicBool,
}

impl Relay {
    /// From now on `waker` is woken; whether something has happened since this was last asked.
    pub(crate) fn take_wake(&self, waker: &Waker) -> bool {
        self.task.register(waker);
        self.woken.swap(false, Ordering::Acquire)
    }

    /// Wakes whoever waits.
    pub(crate) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.task.wake();
    }

    /// Nobody waits any more.
    pub(crate) fn leave(&self) {
        self.task.take();
    }
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        Relay::wake(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        Relay::wake(self);
    }
}
