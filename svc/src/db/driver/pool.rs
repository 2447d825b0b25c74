//! The connections, who has which, and who waits for one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::DriverError;
use super::config::Target;
use super::connection::Connection;
use super::place::{Held, Place};

/// The longest time-out: a year, as clocks do not go for ever.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// At most so many connections, opened when they are needed.
pub(super) struct Pool {
    pub(super) target: Target,
    pub(super) size: u32,
    acquire_timeout: Duration,
    /// How often the housekeeper looks.
    pub(super) tick: Duration,
    state: Mutex<State>,
    /// Counts the times that all connections were given up.
    generation: AtomicU64,
    /// How often the housekeeper has looked (`keep.rs`); connections tell their age by it.
    ticks: AtomicU32,
    /// Says that a view has changed since its statement was made.
    pub(super) views_changed: Arc<Notify>,
}

/// Somebody waits only while nothing is idle and there is no room.
pub(super) struct State {
    /// The connections that nobody uses; the one that was used last is the last.
    #[expect(clippy::vec_box, reason = "a connection is large, and moves twice for each statement")]
    pub(super) idle: Vec<Box<Connection>>,
    /// How many more may be opened.
    pub(super) room: u32,
    /// In the order of their deadlines, as all wait equally long.
    pub(super) waiting: VecDeque<Waiting>,
    /// The task that sends away those who have waited too long, and the one that closes old connections (`keep.rs`).
    pub(super) usher: Option<AbortHandle>,
    pub(super) housekeeper: Option<AbortHandle>,
}

/// A request that waits for its turn.
pub(super) struct Waiting {
    turn: oneshot::Sender<Place<Arc<Pool>>>,
    pub(super) deadline: Instant,
}

/// What a request that waits has: it gets a place, or nothing when the time is over, which is the second.
type Turn = (oneshot::Receiver<Place<Arc<Pool>>>, Instant);

impl Pool {
    pub(super) fn new(target: Target, size: u32, acquire_timeout: Duration, tick: Duration) -> Arc<Self> {
        let state = State { idle: Vec::new(), room: size, waiting: VecDeque::new(), usher: None, housekeeper: None };
        Arc::new(Self {
            target,
            size,
            acquire_timeout: acquire_timeout.min(LONGEST),
            tick,
            state: Mutex::new(state),
            generation: AtomicU64::new(0),
            ticks: AtomicU32::new(0),
            views_changed: Arc::default(),
        })
    }

    /// A connection for one statement.
    ///
    /// # Errors
    /// When there is none within the time-out, or a new one cannot be opened.
    pub(super) async fn acquire(self: &Arc<Self>) -> Result<Place<&Arc<Self>>, DriverError> {
        let mut deadline = None;
        let mut place = loop {
            match self.take(deadline) {
                Ok(place) => break place,
                Err((turn, until)) => {
                    super::keep::usher(self);
                    if let Ok(place) = turn.await {
                        break place.lent(self);
                    }
                    // Earlier than that, it was the usher that ended, with its runtime.
                    if until <= Instant::now() || deadline.is_some() {
                        return Err(DriverError::Busy);
                    }
                    deadline = Some(until);
                }
            }
        };
        if place.is_room() {
            // Boxed, as the future that connects is large, and would be moved with each request's.
            Box::pin(self.open(&mut place, deadline)).await?;
        }
        Ok(place)
    }

    /// The connection that was used last, as its caches are the warmest; else room for one, or a turn in the queue.
    fn take(self: &Arc<Self>, deadline: Option<Instant>) -> Result<Place<&Arc<Self>>, Turn> {
        let mut state = self.state();
        if let Some(connection) = state.idle.pop() {
            return Ok(Place::new(self, Held::Connection(connection)));
        }
        if let Some(room) = state.room.checked_sub(1) {
            state.room = room;
            return Ok(Place::new(self, Held::Room));
        }
        let (turn, receiver) = oneshot::channel();
        let deadline = self.deadline(deadline);
        if state.waiting.len() == state.waiting.capacity() {
            // The queue grows only for requests that are still there.
            state.waiting.retain(|waiting| !waiting.turn.is_closed());
        }
        state.waiting.push_back(Waiting { turn, deadline });
        Err((receiver, deadline))
    }

    async fn open(
        self: &Arc<Self>,
        place: &mut Place<&Arc<Self>>,
        deadline: Option<Instant>,
    ) -> Result<(), DriverError> {
        super::keep::housekeeper(self);
        let deadline = self.deadline(deadline);
        let generation = self.generation.load(Ordering::Relaxed);
        let opened = Connection::open(&self.target, generation, self.now());
        let connection = tokio::time::timeout_at(deadline, opened).await.unwrap_or(Err(DriverError::Busy))?;
        place.fill(Box::new(connection));
        Ok(())
    }

    fn deadline(&self, known: Option<Instant>) -> Instant {
        known.unwrap_or_else(|| Instant::now() + self.acquire_timeout)
    }

    /// Gives a place to whoever waits for one, or keeps it.
    pub(super) fn put_back(self: &Arc<Self>, mut held: Held) {
        if let Held::Connection(connection) = &mut held {
            connection.used = self.now();
            if connection.generation != self.generation.load(Ordering::Relaxed) || connection.is_old(self.now()) {
                held = held.close();
            }
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

    /// Closes some of the unused connections, outside of the lock.
    pub(super) fn close_idle(&self, which: impl Fn(&Connection) -> bool) {
        let closed: Vec<_> = {
            let mut state = self.state();
            let closed: Vec<_> = state.idle.extract_if(.., |connection| which(connection)).collect();
            state.room += u32::try_from(closed.len()).unwrap_or(0);
            closed
        };
        closed.into_iter().for_each(|connection| connection.close());
    }

    /// Connections in use.
    pub(super) fn in_use(&self) -> u32 {
        let state = self.state();
        let unused = state.room.saturating_add(u32::try_from(state.idle.len()).unwrap_or(u32::MAX));
        self.size.saturating_sub(unused)
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
    fn keep(&mut self, held: Held) {
        match held {
            Held::Connection(connection) => self.idle.push(connection),
            Held::Room => self.room += 1,
            Held::Nothing => {}
        }
    }
}
