//! The pool's maintenance tasks: one times out waiting requests, the other closes old and idle
//! connections.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::Pool;
use crate::driver::connection::Connection;

/// The interval of the reaper, which is also the unit of connection ages.
pub(in crate::driver) const TICK: Duration = Duration::from_secs(30);
/// The age at which a connection is closed, in ticks: half an hour.
const LIFETIME: u32 = 60;
/// How long a connection may stay idle, in ticks: ten minutes.
const IDLE: u32 = 20;

/// A task that times out waiting requests, until the queue is empty. The code that sets
/// `State::has_wait_timeouts` spawns it.
pub(in crate::driver) struct WaitTimeouts(Weak<Pool>);

impl WaitTimeouts {
    /// Must not be called under the lock: a runtime that is shutting down drops the task at once.
    pub(in crate::driver) fn spawn(pool: &Arc<Pool>) {
        tokio::spawn(Self(Arc::downgrade(pool)).run());
    }

    async fn run(mut self) {
        while let Some(next) = self.next_deadline() {
            tokio::time::sleep_until(next).await;
        }
    }

    /// Times out the waits that are over. Returns the next deadline, if any request is waiting.
    fn next_deadline(&mut self) -> Option<Instant> {
        let pool = self.0.upgrade()?;
        let mut state = pool.state();
        let now = Instant::now();
        let late = state
            .waiting
            .iter()
            .take_while(|waiting| waiting.deadline <= now)
            .count();

        // Dropping their senders notifies them.
        let late: Vec<_> = state.waiting.drain(..late).collect();
        let next = state.waiting.front().map(|waiting| waiting.deadline);
        if next.is_none() {
            state.has_wait_timeouts = false;

            // Disarms the destructor, which would reset the flag of a task that is spawned
            // meanwhile.
            self.0 = Weak::new();
        }

        // Wakers run outside of the lock, on which the woken requests would wait at once.
        drop(state);
        drop(late);

        next
    }
}

impl Drop for WaitTimeouts {
    /// Notifies the waiting requests that the runtime has ended before the work did. From then on,
    /// each uses its own timer.
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            let mut state = pool.state();
            state.has_wait_timeouts = false;
            let waiting = std::mem::take(&mut state.waiting);
            drop(state);
            drop(waiting);
        }
    }
}

/// A task that closes old connections, while there are any. The code that sets `State::has_reaper`
/// spawns it.
pub(in crate::driver) struct Reaper(Weak<Pool>);

impl Reaper {
    /// Must not be called under the lock, like the other task.
    pub(in crate::driver) fn spawn(pool: &Arc<Pool>) {
        tokio::spawn(Self(Arc::downgrade(pool)).run(pool.tick));
    }

    async fn run(mut self, tick: Duration) {
        loop {
            tokio::time::sleep(tick).await;
            let Some(pool) = self.0.upgrade() else { return };
            let now = pool.grow_older();
            pool.close_idle(|connection| {
                connection.is_old(now) || now.saturating_sub(connection.used) >= IDLE
            });
            let mut state = pool.state();

            if state.vacant == pool.size {
                state.has_reaper = false;
                self.0 = Weak::new();
                return;
            }
        }
    }
}

impl Drop for Reaper {
    /// Records that the runtime has ended before the work did; the next request that opens a
    /// connection spawns another task.
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.state().has_reaper = false;
        }
    }
}

impl Connection {
    pub(in crate::driver) fn is_old(&self, now: u32) -> bool {
        now.saturating_sub(self.opened) >= LIFETIME
    }
}
