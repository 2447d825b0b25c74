//! The task that produces the beats for deadlines.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Pool;

/// A task that wakes requests whose statements are late, while there are connections. The code that
/// sets `State::has_watchdog` spawns it.
pub(in crate::driver) struct Watchdog(Weak<Pool>);

impl Watchdog {
    /// Must not be called under the lock: a runtime that is shutting down drops the task at once.
    pub(in crate::driver) fn spawn(pool: &Arc<Pool>) {
        tokio::spawn(Self(Arc::downgrade(pool)).run(pool.watches.beat));
    }

    async fn run(mut self, beat: Duration) {
        loop {
            tokio::time::sleep(beat).await;
            let Some(pool) = self.0.upgrade() else { return };
            pool.watches.look();
            let mut state = pool.state();
            if state.vacant == pool.size {
                state.has_watchdog = false;

                // Disarms the destructor, which would reset the flag of a task that is spawned
                // meanwhile.
                self.0 = Weak::new();
                return;
            }
        }
    }
}

impl Drop for Watchdog {
    /// Records that the runtime has ended before the work did; the next request that takes a
    /// connection spawns another task.
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.state().has_watchdog = false;
        }
    }
}
