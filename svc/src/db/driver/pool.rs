//! The connections, who has which, and who waits for one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::DriverError;
use super::config::Target;
use super::connection::Connection;
use super::deadline::{Watchdog, Watches};
use super::keep::{Housekeeper, Usher};
use super::place::{Held, Place};

/// The bounds of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The most connections.
    pub(crate) size: u32,
    /// How long to wait for a connection.
    pub(crate) acquire_timeout: Duration,
    /// How long to wait for the answer to a statement.
    pub(crate) deadline: Duration,
}

/// At most so many connections, opened when they are needed.
pub(super) struct Pool {
    pub(super) target: Target,
    pub(super) size: u32,
    acquire_timeout: Duration,
    /// How often the housekeeper looks.
    pub(super) tick: Duration,
    state: Mutex<State>,
    /// The connections that are open, for the watchdog.
    pub(super) watches: Watches,
    /// How often the housekeeper has looked (`keep.rs`); connections tell their age by it.
    ticks: AtomicU32,
    /// Counts the times that all connections were given up.
    generation: AtomicU32,
    /// Says that a view has changed since its statement was made.
    pub(super) views_changed: Arc<Notify>,
}

/// Somebody waits only while nothing is idle and there is no room.
#[derive(Default)]
pub(super) struct State {
    /// The connections that nobody uses; the one that was used last is the last.
    #[expect(clippy::vec_box, reason = "a connection is large, and moves twice for each statement")]
    pub(super) idle: Vec<Box<Connection>>,
    /// How many more may be opened.
    pub(super) room: u32,
    /// Those who asked first are the first.
    pub(super) waiting: VecDeque<Waiting>,
    /// Whether the tasks of `keep.rs` are there.
    pub(super) has_usher: bool,
    pub(super) has_housekeeper: bool,
    /// Whether the task of `deadline.rs` is there.
    pub(super) has_watchdog: bool,
}

/// A request that waits for its turn.
pub(super) struct Waiting {
    turn: oneshot::Sender<Place<Arc<Pool>>>,
    pub(super) deadline: Instant,
}

/// Where a request that waits gets its place, or learns that it gets none.
type Turn = oneshot::Receiver<Place<Arc<Pool>>>;

impl Pool {
    pub(super) fn new(target: Target, bounds: Bounds, tick: Duration) -> Arc<Self> {
        let state = State { room: bounds.size, ..State::default() };
        Arc::new(Self {
            target,
            size: bounds.size,
            acquire_timeout: bounds.acquire_timeout,
            tick,
            state: Mutex::new(state),
            watches: Watches::new(bounds.deadline),
            ticks: AtomicU32::new(0),
            generation: AtomicU32::new(0),
            views_changed: Arc::default(),
        })
    }

    /// A connection for one statement.
    ///
    /// # Errors
    /// When there is none within the time-out, or a new one cannot be opened.
    pub(super) async fn acquire(self: &Arc<Self>) -> Result<Place<&Arc<Self>>, DriverError> {
        let (mut place, deadline) = match self.take() {
            Ok(place) => (place, None),
            Err((turn, deadline)) => (self.wait(turn, deadline).await?, Some(deadline)),
        };
        if place.is_room() {
            // Boxed, as the future that connects is large, and would be moved with each request's.
            Box::pin(self.open(&mut place, deadline)).await?;
        }
        Ok(place)
    }

    /// The connection that was used last, as its caches are the warmest; else room for one, or a turn in the queue and
    /// until when to wait for it.
    fn take(self: &Arc<Self>) -> Result<Place<&Arc<Self>>, (Turn, Instant)> {
        let mut state = self.state();
        if !std::mem::replace(&mut state.has_watchdog, true) {
            drop(state);
            Watchdog::spawn(self);
            state = self.state();
        }
        if let Some(held) = state.free() {
            return Ok(Place::new(self, held));
        }
        let deadline = Instant::now() + self.acquire_timeout;
        let turn = state.queue(deadline);
        let had_usher = std::mem::replace(&mut state.has_usher, true);
        drop(state);
        if !had_usher {
            Usher::spawn(self);
        }
        Err((turn, deadline))
    }

    async fn wait(self: &Arc<Self>, turn: Turn, deadline: Instant) -> Result<Place<&Arc<Self>>, DriverError> {
        match turn.await {
            Ok(place) => Ok(place.lent(self)),
            Err(_) if deadline <= Instant::now() => Err(DriverError::Busy),
            // The usher has ended with its runtime, which was another request's.
            Err(_) => Box::pin(self.wait_alone(deadline)).await,
        }
    }

    /// Waits with a clock of its own.
    async fn wait_alone(self: &Arc<Self>, deadline: Instant) -> Result<Place<&Arc<Self>>, DriverError> {
        loop {
            let turn = {
                let mut state = self.state();
                match state.free() {
                    Some(held) => return Ok(Place::new(self, held)),
                    None => state.queue(deadline),
                }
            };
            match tokio::time::timeout_at(deadline, turn).await {
                Ok(Ok(place)) => return Ok(place.lent(self)),
                // Another usher has ended.
                Ok(Err(_)) if Instant::now() < deadline => {}
                _ => return Err(DriverError::Busy),
            }
        }
    }

    /// Opens a connection where there is room, until the deadline of a request that has waited for it.
    async fn open(
        self: &Arc<Self>,
        place: &mut Place<&Arc<Self>>,
        deadline: Option<Instant>,
    ) -> Result<(), DriverError> {
        let had_housekeeper = std::mem::replace(&mut self.state().has_housekeeper, true);
        if !had_housekeeper {
            Housekeeper::spawn(self);
        }
        let generation = self.generation.load(Ordering::Relaxed);
        let opened = Connection::open(&self.target, self.now());
        let opened = match deadline {
            // What was left of the time says nothing about the database.
            Some(deadline) => tokio::time::timeout_at(deadline, opened).await.map_err(|_| DriverError::Busy)?,
            None => tokio::time::timeout(self.acquire_timeout, opened)
                .await
                .map_err(|_| DriverError::Unreachable(Box::new(DriverError::Unanswered)))?,
        };
        let mut connection = opened.map_err(DriverError::while_opening)?;
        connection.generation = generation;
        self.watches.add(connection.watch());
        place.fill(Box::new(connection));
        Ok(())
    }

    /// Gives a place to whoever waits for one, or keeps it.
    pub(super) fn put_back(self: &Arc<Self>, mut held: Held) {
        if let Held::Connection(mut connection) = held {
            (connection.used, connection.is_new) = (self.now(), false);
            let is_current = connection.generation == self.generation.load(Ordering::Relaxed);
            held = if is_current && !connection.is_old(self.now()) {
                Held::Connection(connection)
            } else {
                connection.close();
                Held::Room
            };
        }
        loop {
            let next = {
                let mut state = self.state();
                match state.waiting.pop_front() {
                    Some(next) => next,
                    None => return state.keep(held),
                }
            };
            match next.turn.send(Place::new(self.clone(), held)) {
                Ok(()) => return,
                // Its request has gone.
                Err(place) => held = place.into_held(),
            }
        }
    }

    /// Closes the connections that lie unused; those in use are closed when they come back.
    pub(super) fn give_up_connections(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.close_idle(|_| true);
    }

    /// Closes the unused connections that the server has closed: where one has died others may have.
    pub(super) fn close_dead(&self) {
        self.close_idle(|connection| !connection.is_alive());
    }

    /// Closes some of the unused connections, outside of the lock.
    pub(super) fn close_idle(&self, which: impl Fn(&mut Connection) -> bool) {
        let closed: Vec<_> = {
            let mut state = self.state();
            let closed: Vec<_> = state.idle.extract_if(.., |connection| which(connection)).collect();
            state.room += u32::try_from(closed.len()).unwrap_or(0);
            closed
        };
        closed.into_iter().for_each(|connection| connection.close());
    }

    /// The lock is held for a few moves. Nothing is dropped under it that would come back here.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u32 {
        self.ticks.load(Ordering::Relaxed)
    }

    /// One tick more.
    pub(super) fn grow_older(&self) -> u32 {
        self.ticks.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl State {
    /// A connection that nobody uses, or room for one.
    fn free(&mut self) -> Option<Held> {
        if let Some(connection) = self.idle.pop() {
            return Some(Held::Connection(connection));
        }
        self.room = self.room.checked_sub(1)?;
        Some(Held::Room)
    }

    fn queue(&mut self, deadline: Instant) -> Turn {
        let (turn, receiver) = oneshot::channel();
        if self.waiting.len() == self.waiting.capacity() {
            // The queue grows only for requests that are still there.
            self.waiting.retain(|waiting| !waiting.turn.is_closed());
        }
        self.waiting.push_back(Waiting { turn, deadline });
        receiver
    }

    fn keep(&mut self, held: Held) {
        match held {
            Held::Connection(connection) => self.idle.push(connection),
            Held::Room => self.room += 1,
            Held::Nothing => {}
        }
    }
}
