//! What keeps the pool in order while requests come and go: they read no clock and set no timer.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::connection::Connection;
use super::pool::Pool;

/// How often the housekeeper looks; ages are counted in this.
pub(super) const TICK: Duration = Duration::from_secs(30);
/// How many ticks old a connection gets: half an hour.
const LIFETIME: u32 = 60;
/// How many ticks one may lie unused: ten minutes.
const IDLE: u32 = 20;

/// Sees to it that those who wait too long are told so.
pub(super) fn usher(pool: &Arc<Pool>) {
    if has_ended(pool.state().usher.as_ref()) {
        // Not under the lock: a runtime that is ending drops the task at once.
        let usher = tokio::spawn(Usher(Arc::downgrade(pool)).send_away_the_late());
        pool.state().usher = Some(usher.abort_handle());
    }
}

/// Sees to it that old connections are closed.
pub(super) fn housekeeper(pool: &Arc<Pool>) {
    if has_ended(pool.state().housekeeper.as_ref()) {
        let housekeeper = tokio::spawn(close_the_old(Arc::downgrade(pool), pool.tick));
        pool.state().housekeeper = Some(housekeeper.abort_handle());
    }
}

/// A task ends when its work is done, and with the runtime of the request that needed it first.
fn has_ended(task: Option<&AbortHandle>) -> bool {
    task.is_none_or(AbortHandle::is_finished)
}

/// Watches over those who wait, until there are none.
struct Usher(Weak<Pool>);

impl Usher {
    async fn send_away_the_late(self) {
        while let Some(next) = self.next_deadline() {
            tokio::time::sleep_until(next).await;
        }
    }

    /// Sends away who is late; when the next one will be, while somebody waits.
    fn next_deadline(&self) -> Option<Instant> {
        let pool = self.0.upgrade()?;
        let mut state = pool.state();
        let now = Instant::now();
        let late = state.waiting.iter().take_while(|waiting| waiting.deadline <= now).count();
        // Dropping what they wait for tells them.
        let late: Vec<_> = state.waiting.drain(..late).collect();
        let next = state.waiting.front().map(|waiting| waiting.deadline);
        if next.is_none() {
            state.usher = None;
        }
        drop(state);
        drop(late);
        next
    }
}

impl Drop for Usher {
    /// Those who still wait queue once more, and find no usher.
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            let mut state = pool.state();
            state.usher = None;
            let waiting = std::mem::take(&mut state.waiting);
            drop(state);
            drop(waiting);
        }
    }
}

async fn close_the_old(pool: Weak<Pool>, tick: Duration) {
    loop {
        tokio::time::sleep(tick).await;
        let Some(pool) = pool.upgrade() else { return };
        let now = pool.grow_older();
        pool.close_idle(|connection| connection.is_old(now) || now - connection.used >= IDLE);
        let mut state = pool.state();
        if state.room == pool.size {
            state.housekeeper = None;
            return;
        }
    }
}

impl Connection {
    pub(super) fn is_old(&self, now: u32) -> bool {
        now - self.opened >= LIFETIME
    }
}
