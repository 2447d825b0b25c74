//! Answers that are being made: whoever asks for one again waits for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ahash::RandomState;
use tokio::sync::watch;

use super::Entry;
use super::changes::Moment;

/// The answers that are being made.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Arc<[u8]>, Flight, RandomState>>);

#[derive(Debug)]
struct Flight {
    began: Moment,
    landing: Landing,
}

/// The end of the making of an answer: `Some(None)` is one that others may not have. It is closed without a word when
/// whoever makes the answer is dropped.
type Landing = watch::Receiver<Option<Option<Arc<Entry>>>>;

/// The part of one who asks for an answer.
pub(super) enum Joined<'a> {
    /// To make it.
    Leads(Lead<'a>),
    /// To wait for it.
    Waits(Landing),
}

/// The one who makes an answer.
#[derive(Debug)]
pub(super) struct Lead<'a> {
    flights: &'a Flights,
    pub(super) key: Arc<[u8]>,
    end: watch::Sender<Option<Option<Arc<Entry>>>>,
    landing: Landing,
}

impl Flights {
    /// Joins those who ask for an answer. One that was begun too early is no longer waited for.
    pub(super) fn join(&self, key: &Arc<[u8]>, now: Moment, is_fresh: impl FnOnce(Moment) -> bool) -> Joined<'_> {
        let mut flights = self.locked();
        if let Some(flight) = flights.get(key).filter(|flight| is_fresh(flight.began)) {
            return Joined::Waits(flight.landing.clone());
        }
        let (end, landing) = watch::channel(None);
        flights.insert(key.clone(), Flight { began: now, landing: landing.clone() });
        Joined::Leads(Lead { flights: self, key: key.clone(), end, landing })
    }

    /// Nothing under the lock can panic half-way.
    fn locked(&self) -> MutexGuard<'_, HashMap<Arc<[u8]>, Flight, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lead<'_> {
    /// Gives the answer to those who wait; `None` sends them to make their own.
    pub(super) fn land(self, entry: Option<Arc<Entry>>) {
        self.end.send_replace(Some(entry));
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut flights = self.flights.locked();
        // A later one may have taken its place.
        let is_own = |flight: &Flight| self.landing.same_channel(&flight.landing);
        if flights.get(&self.key).is_some_and(is_own) {
            flights.remove(&self.key);
        }
    }
}
