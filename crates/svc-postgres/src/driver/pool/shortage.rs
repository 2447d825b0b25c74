//! A server with fewer connections than the pool may open: requests wait for the existing ones.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::{Pool, Slot, SlotState, Turn};

/// The interval for trying to open one more connection.
const RETRY: Duration = Duration::from_millis(500);
/// The time up to which an attempt to connect may have had too little time for a response. After
/// that, the server does not answer.
pub(super) const SHORT_ATTEMPT: Duration = RETRY.saturating_mul(6);
/// The minimum time between two log messages.
const SAY_AGAIN: Duration = Duration::from_secs(60);

impl Pool {
    /// Withholds a slot because the server has refused its connection for lack of connections.
    /// Returns a turn in the queue, before requests that came later, or an error if the pool has no
    /// other connection that could be released.
    pub(super) fn wait_for_others(
        self: &Arc<Self>,
        slot: Slot<&Arc<Self>>,
        deadline: Instant,
    ) -> Result<Turn, ()> {
        let (turn, had_wait_timeouts) = {
            let mut state = self.state();
            let unused = state.vacant + state.withheld + 1;
            if unused >= self.size || deadline <= Instant::now() {
                return Err(());
            }
            state.withheld += 1;
            say(&mut state.told, self.size - unused, self.size);
            let turn = state.queue(deadline);
            (turn, std::mem::replace(&mut state.has_wait_timeouts, true))
        };

        // The slot is neither vacant nor in use.
        drop(slot.into_state());
        let withheld = Withheld(Arc::downgrade(self));
        if !had_wait_timeouts {
            super::WaitTimeouts::spawn(self);
        }

        tokio::spawn(async move {
            tokio::time::sleep(RETRY).await;
            drop(withheld);
        });

        Ok(turn)
    }
}

/// A slot withheld until the server may have more connections. It becomes vacant again when this is
/// dropped, even by a runtime that ends before the pool does.
struct Withheld(Weak<Pool>);

impl Drop for Withheld {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.state().withheld -= 1;
            pool.release(SlotState::Vacant);
        }
    }
}

fn say(told: &mut Option<Instant>, open: u32, size: u32) {
    let now = Instant::now();
    if told.is_some_and(|told| told + SAY_AGAIN > now) {
        return;
    }

    *told = Some(now);

    tracing::warn!(
        open,
        pool_size = size,
        "the database has no connections left; requests wait for the open ones (raise \
         max_connections of PostgreSQL, or lower SVC_DATABASE_POOL_SIZE)"
    );
}
