//! The pool: its idle connections, its vacant slots, and the queue of requests waiting for either.

mod cancel;
mod maintenance;
mod shortage;
mod slot;
mod watchdog;

pub(super) use cancel::finish_or_cancel;
pub(super) use maintenance::TICK;
pub(super) use slot::Slot;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use self::maintenance::{Reaper, WaitTimeouts};
use self::shortage::SHORT_ATTEMPT;
use self::slot::SlotState;
use self::watchdog::Watchdog;
use super::DriverError;
use super::config::Target;
use super::connection::Connection;
use super::wire::Watches;

/// The bounds of a pool.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The maximum number of connections.
    pub size: u32,
    /// The time to wait for a connection.
    pub acquire_timeout: Duration,
    /// The time to wait for the response to a statement.
    pub deadline: Duration,
}

/// At most `size` connections, opened on demand.
pub(super) struct Pool {
    pub(super) target: Target,
    pub(super) size: u32,
    /// The time to wait for a connection.
    pub(super) acquire_timeout: Duration,
    /// The time to wait for the response to a statement.
    pub(super) deadline: Duration,
    /// The interval of the reaper.
    pub(super) tick: Duration,
    state: Mutex<State>,
    /// The open connections, for the watchdog.
    pub(super) watches: Watches,
    /// The reaper's rounds so far (`maintenance.rs`), the clock for the ages of connections.
    ticks: AtomicU32,
    /// Counts how often all connections were retired.
    generation: AtomicU32,
    /// Notified when a view has changed since its statement was written.
    pub(super) views_changed: Arc<Notify>,
    /// Whether the server has lost a prepared statement, or had a different one of its name.
    pub(super) lost_statement: AtomicBool,
}

/// Invariant: `waiting` is non-empty only if there is neither an idle connection nor a vacant slot.
#[derive(Default)]
pub(super) struct State {
    /// The idle connections, most recently used last.
    #[expect(
        clippy::vec_box,
        reason = "a connection is large, and moves twice for each statement"
    )]
    pub(super) idle: Vec<Box<Connection>>,
    /// The slots without a connection, each of which may still open one.
    pub(super) vacant: u32,
    /// The slots withheld until the server may have more connections.
    withheld: u32,
    /// When we last logged that the server is out of connections.
    told: Option<Instant>,
    /// The waiting requests, in the order of their deadlines: the oldest first.
    pub(super) waiting: VecDeque<Waiting>,
    /// Whether the tasks of `maintenance.rs` are running.
    pub(super) has_wait_timeouts: bool,
    pub(super) has_reaper: bool,
    /// Whether the task of `watchdog.rs` is running.
    pub(super) has_watchdog: bool,
}

/// A request waiting for its turn.
pub(super) struct Waiting {
    turn: oneshot::Sender<Slot<Arc<Pool>>>,
    pub(super) deadline: Instant,
}

/// The channel through which a waiting request receives its slot, or learns that it gets none.
type Turn = oneshot::Receiver<Slot<Arc<Pool>>>;

/// A slot, or a turn in the queue with its deadline.
type Taken<'a> = Result<Slot<&'a Arc<Pool>>, (Turn, Instant)>;

impl Pool {
    pub(super) fn new(target: Target, bounds: Bounds, tick: Duration) -> Arc<Self> {
        let state = State {
            vacant: bounds.size,
            ..State::default()
        };

        Arc::new(Self {
            target,
            size: bounds.size,
            acquire_timeout: bounds.acquire_timeout,
            deadline: bounds.deadline,
            tick,
            state: Mutex::new(state),
            watches: Watches::new(bounds.deadline),
            ticks: AtomicU32::new(0),
            generation: AtomicU32::new(0),
            views_changed: Arc::default(),
            lost_statement: AtomicBool::new(false),
        })
    }

    /// Acquires a connection for one statement.
    ///
    /// # Errors
    /// When no connection becomes available within the time-out, or a new one cannot be opened.
    pub(super) async fn acquire(self: &Arc<Self>) -> Result<Slot<&Arc<Self>>, DriverError> {
        self.acquired(self.take()).await
    }

    /// Acquires a connection if one is free or may be opened; `None` if other requests use all.
    pub(super) async fn acquire_free(self: &Arc<Self>) -> Option<Slot<&Arc<Self>>> {
        // A place in the queue is given up when it is dropped.
        let mut slot = self.take().ok()?;
        if slot.is_vacant() {
            Box::pin(self.open(&mut slot, None)).await.ok()?;
        }

        Some(slot)
    }

    /// Returns the slot of [`take`](Self::take) with an open connection: waits for a slot if all were
    /// in use, and connects if the slot is vacant.
    pub(super) async fn acquired<'a>(
        self: &'a Arc<Self>,
        taken: Taken<'a>,
    ) -> Result<Slot<&'a Arc<Self>>, DriverError> {
        let (slot, deadline) = match taken {
            Ok(slot) => (slot, None),
            Err((turn, deadline)) => (self.wait(turn, deadline).await?, Some(deadline)),
        };

        if slot.is_vacant() {
            // Boxed, as the future that connects is large, and would be moved with that of each
            // request.
            return Box::pin(self.filled(slot, deadline)).await;
        }

        Ok(slot)
    }

    /// Returns a slot with a connection: a new one, or one released by another request if the
    /// server has no more.
    async fn filled<'a>(
        self: &'a Arc<Self>,
        mut slot: Slot<&'a Arc<Self>>,
        deadline: Option<Instant>,
    ) -> Result<Slot<&'a Arc<Self>>, DriverError> {
        let until = deadline.unwrap_or_else(|| Instant::now() + self.acquire_timeout);
        let (mut deadline, mut refusal) = (deadline, None::<DriverError>);
        loop {
            let start = Instant::now();
            let error = match self.open(&mut slot, deadline).await {
                Ok(()) => return Ok(slot),
                // The refusal by the server is the cause if little time was left for this attempt.
                Err(DriverError::PoolTimedOut) => {
                    let cause = refusal.filter(|_| start.elapsed() <= SHORT_ATTEMPT);
                    return Err(cause.unwrap_or(DriverError::PoolTimedOut));
                }
                Err(error) => error,
            };
            if !error.is_too_many_connections() {
                return Err(error);
            }

            let Ok(turn) = self.wait_for_others(slot, until) else {
                return Err(error);
            };

            // With its own timer, as the task may sleep until a later deadline. Report the server's
            // error, not a timeout, however long this request has waited: the server lacks
            // connections.
            let waited = tokio::time::timeout_at(until, self.wait(turn, until)).await;
            slot = match waited {
                Ok(Ok(slot)) => slot,
                _ => return Err(error),
            };
            if !slot.is_vacant() {
                return Ok(slot);
            }

            (deadline, refusal) = (Some(until), Some(error));
        }
    }

    /// Returns the most recently used connection, as its caches are the warmest, or else a vacant
    /// slot, or else a turn in the queue with its deadline.
    pub(super) fn take(self: &Arc<Self>) -> Taken<'_> {
        let mut state = self.state();
        if !std::mem::replace(&mut state.has_watchdog, true) {
            drop(state);
            Watchdog::spawn(self);
            state = self.state();
        }

        if let Some(free) = state.free() {
            return Ok(Slot::new(self, free));
        }

        let deadline = Instant::now() + self.acquire_timeout;
        let turn = state.queue(deadline);
        let had_wait_timeouts = std::mem::replace(&mut state.has_wait_timeouts, true);

        drop(state);
        if !had_wait_timeouts {
            WaitTimeouts::spawn(self);
        }

        Err((turn, deadline))
    }

    async fn wait(
        self: &Arc<Self>,
        turn: Turn,
        deadline: Instant,
    ) -> Result<Slot<&Arc<Self>>, DriverError> {
        match turn.await {
            Ok(slot) => Ok(slot.borrowed(self)),
            Err(_) if deadline <= Instant::now() => Err(DriverError::PoolTimedOut),
            // The timeout task has ended with its runtime, which belonged to another request.
            Err(_) => Box::pin(self.wait_alone(deadline)).await,
        }
    }

    /// Waits with its own timer.
    async fn wait_alone(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<Slot<&Arc<Self>>, DriverError> {
        loop {
            let turn = {
                let mut state = self.state();
                match state.free() {
                    Some(free) => return Ok(Slot::new(self, free)),
                    None => state.queue(deadline),
                }
            };

            match tokio::time::timeout_at(deadline, turn).await {
                Ok(Ok(slot)) => return Ok(slot.borrowed(self)),
                // Another timeout task has ended.
                Ok(Err(_)) if Instant::now() < deadline => {}
                _ => return Err(DriverError::PoolTimedOut),
            }
        }
    }

    /// Opens a connection in a vacant slot, until the deadline of a request that has already waited
    /// for it.
    async fn open(
        self: &Arc<Self>,
        slot: &mut Slot<&Arc<Self>>,
        deadline: Option<Instant>,
    ) -> Result<(), DriverError> {
        let had_reaper = std::mem::replace(&mut self.state().has_reaper, true);
        if !had_reaper {
            Reaper::spawn(self);
        }

        // Read before connecting, so that a connection which is being opened while all are retired
        // counts as one of them.
        let generation = self.generation.load(Ordering::Relaxed);
        let opened = Connection::open(&self.target, self.now());
        let opened = match deadline {
            // Running out of the remaining time says nothing about the database.
            Some(deadline) => tokio::time::timeout_at(deadline, opened)
                .await
                .map_err(|_| DriverError::PoolTimedOut)?,
            None => tokio::time::timeout(self.acquire_timeout, opened)
                .await
                .map_err(|_| DriverError::Unreachable(Box::new(DriverError::Unanswered)))?,
        };

        let mut connection = opened.map_err(DriverError::while_opening)?;
        connection.generation = generation;
        self.watches.add(connection.watch());
        slot.fill(Box::new(connection));

        Ok(())
    }

    /// Passes a slot to the next waiting request, or keeps it.
    pub(super) fn release(self: &Arc<Self>, mut released: SlotState) {
        if let SlotState::Connection(mut connection) = released {
            (connection.used, connection.is_new) = (self.now(), false);
            let is_current = connection.generation == self.generation.load(Ordering::Relaxed);
            released = if is_current
                && !connection.session.needs_reset()
                && !connection.is_old(self.now())
            {
                SlotState::Connection(connection)
            } else {
                connection.close();
                SlotState::Vacant
            };
        }

        loop {
            let next = {
                let mut state = self.state();
                match state.waiting.pop_front() {
                    Some(next) => next,
                    None => return state.keep(released),
                }
            };

            // Outside of the lock: a failed send returns the slot, whose destructor takes the lock.
            match next.turn.send(Slot::new(self.clone(), released)) {
                Ok(()) => return,
                // Its request has gone.
                Err(slot) => released = slot.into_state(),
            }
        }
    }

    /// Closes the idle connections now, and the ones in use when they are released.
    pub(super) fn retire_connections(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.close_idle(|_| true);
    }

    /// Closes the idle connections that the server has closed: if one has died, others may have.
    pub(super) fn close_dead(&self) {
        self.close_idle(|connection| !connection.is_alive());
    }

    /// Closes some of the idle connections, outside of the lock.
    pub(super) fn close_idle(&self, which: impl Fn(&mut Connection) -> bool) {
        let closed: Vec<_> = {
            let mut state = self.state();
            let closed: Vec<_> = state
                .idle
                .extract_if(.., |connection| which(connection))
                .collect();
            state.vacant += u32::try_from(closed.len()).unwrap_or(0);
            closed
        };

        closed.into_iter().for_each(|connection| connection.close());
    }

    /// The numbers of idle connections, slots without a connection and waiting requests.
    pub(super) fn counts(&self) -> [usize; 3] {
        let state = self.state();
        let waiting = state
            .waiting
            .iter()
            // A request that was dropped stays in the queue until its turn.
            .filter(|waiting| !waiting.turn.is_closed())
            .count();
        let unopened = state.vacant + state.withheld;
        [state.idle.len(), unopened as usize, waiting]
    }

    /// The lock is held for a few moves only. Nothing is dropped under it whose destructor would
    /// lock it again.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u32 {
        self.ticks.load(Ordering::Relaxed)
    }

    /// Advances the clock by one tick.
    pub(super) fn grow_older(&self) -> u32 {
        self.ticks.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl State {
    /// An idle connection, or a vacant slot.
    fn free(&mut self) -> Option<SlotState> {
        if let Some(connection) = self.idle.pop() {
            return Some(SlotState::Connection(connection));
        }
        self.vacant = self.vacant.checked_sub(1)?;
        Some(SlotState::Vacant)
    }

    fn queue(&mut self, deadline: Instant) -> Turn {
        let (turn, receiver) = oneshot::channel();
        if self.waiting.len() == self.waiting.capacity() {
            // The queue grows only for requests that still exist.
            self.waiting.retain(|waiting| !waiting.turn.is_closed());
        }

        // At the end, unless the request has waited before.
        let place = self
            .waiting
            .partition_point(|waiting| waiting.deadline <= deadline);
        self.waiting.insert(place, Waiting { turn, deadline });
        receiver
    }

    fn keep(&mut self, released: SlotState) {
        match released {
            SlotState::Connection(connection) => self.idle.push(connection),
            SlotState::Vacant => self.vacant += 1,
            SlotState::Released => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;
    use crate::connect::ConnectConfig;

    #[test]
    fn a_withheld_slot_is_not_in_use() {
        let connect = ConnectConfig::parse("postgres://me@localhost/db", &|_| None).unwrap();
        let time = Duration::from_secs(1);
        let bounds = Bounds {
            size: 3,
            acquire_timeout: time,
            deadline: time,
        };
        let pool = Pool::new(Target::new(&connect), bounds, time);
        {
            let mut state = pool.state();
            state.vacant -= 1;
            state.withheld += 1;
        }

        assert_eq!(pool.counts(), [0, 3, 0]);
    }

    #[tokio::test]
    async fn a_request_that_has_waited_before_keeps_its_place() {
        let (mut state, now) = (State::default(), Instant::now());
        let turns = [3, 5, 1, 3, 4].map(|seconds| state.queue(now + Duration::from_secs(seconds)));

        let deadlines: Vec<_> = state
            .waiting
            .iter()
            .map(|waiting| (waiting.deadline - now).as_secs())
            .collect();
        assert_eq!(deadlines, [1, 3, 3, 4, 5]);

        // Of equal deadlines, the first comes first.
        let [mut first, _, _, mut second, _] = turns;
        state.waiting.drain(..2);
        assert!(
            first
                .try_recv()
                .is_err_and(|error| error == TryRecvError::Closed)
        );
        assert!(
            second
                .try_recv()
                .is_err_and(|error| error == TryRecvError::Empty)
        );
    }
}
