//! Responses that are being computed: further requests for the same response wait for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ahash::RandomState;
use tokio::sync::watch;

use super::Entry;
use super::changes::Moment;

/// The responses that are being computed.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Arc<[u8]>, Flight, RandomState>>);

#[derive(Debug)]
struct Flight {
    began: Moment,
    landing: Landing,
}

/// The result of computing a response: `Some(None)` means that other requests may not have it. The
/// channel is closed without a result when the request that computes the response is dropped.
type Landing = watch::Receiver<Option<Option<Arc<Entry>>>>;

/// The role of a request for a response.
pub(super) enum Joined<'a> {
    /// Computes the response.
    Leads(Lead<'a>),
    /// Waits for the response.
    Waits(Landing),
}

/// The request that computes the response; others wait for it.
#[derive(Debug)]
pub(super) struct Lead<'a> {
    flights: &'a Flights,
    pub(super) key: Arc<[u8]>,
    end: watch::Sender<Option<Option<Arc<Entry>>>>,
    landing: Landing,
}

impl Flights {
    /// Joins the requests for a response. A computation that started too early is no longer waited
    /// for.
    pub(super) fn join(
        &self,
        key: &Arc<[u8]>,
        now: Moment,
        is_fresh: impl FnOnce(Moment) -> bool,
    ) -> Joined<'_> {
        let mut flights = self.locked();
        if let Some(flight) = flights.get(key).filter(|flight| is_fresh(flight.began)) {
            return Joined::Waits(flight.landing.clone());
        }

        let (end, landing) = watch::channel(None);
        flights.insert(
            key.clone(),
            Flight {
                began: now,
                landing: landing.clone(),
            },
        );

        Joined::Leads(Lead {
            flights: self,
            key: key.clone(),
            end,
            landing,
        })
    }

    /// Nothing under the lock can panic half-way.
    fn locked(&self) -> MutexGuard<'_, HashMap<Arc<[u8]>, Flight, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lead<'_> {
    /// Delivers the response to the waiting requests; with `None`, they compute their own.
    pub(super) fn land(self, entry: Option<Arc<Entry>>) {
        self.end.send_replace(Some(entry));
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        // Removed before the channel closes, because fields are dropped after this: a request that
        // is woken must not join the same computation again.
        let mut flights = self.flights.locked();
        // A later computation may have replaced it.
        let is_own = |flight: &Flight| self.landing.same_channel(&flight.landing);
        if flights.get(&self.key).is_some_and(is_own) {
            flights.remove(&self.key);
        }
    }
}
