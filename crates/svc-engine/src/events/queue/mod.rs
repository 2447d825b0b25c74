//! The event queue of one subscriber.

mod feed;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use indexmap::IndexSet;

use super::{Event, Operation, RowEvent};
use svc_core::log_throttle::LogThrottle;
use svc_postgres::{Participant, SharedReads};

pub use feed::Events;

pub(crate) use feed::{Feed, too_slow};

pub(super) use feed::Leave;

/// The factor for the number of events that may wait for a subscriber that reads: events written
/// together arrive together, and it is the service that has not processed them yet.
const READING: usize = 10;

/// The time after which a client that has received nothing counts as not reading: until then, the
/// service may not have processed its events.
const UNREAD: Duration = Duration::from_secs(1);

/// The events that wait for one subscriber. If too many wait and its client does not read, the
/// subscriber is dropped.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    waker: AtomicWaker,
    /// The maximum number of events that wait for a client that does not read.
    most: usize,
    /// Whether the subscriber requests an event. A slow subscriber gets the last event of each row.
    /// `None` accepts all events, regardless of their content.
    accepts: Option<Arc<dyn Accepts>>,
}

/// The rows that a subscriber requests.
pub(crate) trait Accepts: Send + Sync {
    /// Whether an event is about one of them. Called for each event, in order.
    fn accepts(&self, event: &RowEvent) -> bool;

    /// Whether an event's `id` has the type of the rows' `id`.
    fn is_fit(&self, event: &RowEvent) -> bool {
        let _ = event;
        true
    }
}

#[derive(Debug, Default)]
struct Waiting {
    deliveries: VecDeque<Delivery>,
    /// Whether the subscriber waits for the next event or processes one, because its client has
    /// received all responses.
    is_reading: bool,
    /// The number of events that have arrived since the client last read.
    unread: usize,
    /// The arrival time of the first of them.
    unread_since: Option<Instant>,
    /// Whether they were collapsed into a gap.
    has_collapsed: bool,
    is_full: bool,
}

/// An item for a subscriber.
#[derive(Debug)]
pub enum Delivery {
    /// An event. It `hides` a change of the row that was not delivered to the subscriber. A
    /// subscriber to rows participates in the shared reads of the event.
    Event {
        event: Arc<Event>,
        hides: bool,
        participant: Option<Participant>,
    },
    /// Events may have been missed, except those about `waiting` rows. A subscriber to rows
    /// participates in the reads that look for changes.
    Gap {
        participant: Option<Participant>,
        waiting: Vec<String>,
    },
    /// Too many events wait: nothing more is delivered.
    Overflow,
}

impl Queue {
    pub(super) fn new(most: usize, accepts: Option<Arc<dyn Accepts>>) -> Self {
        Self {
            waiting: Mutex::default(),
            waker: AtomicWaker::new(),
            most,
            accepts,
        }
    }

    /// Adds an event. `dropped` limits the log lines about events that name no row.
    pub(super) fn event(&self, event: &Arc<Event>, dropped: &LogThrottle) {
        let Some(accepts) = &self.accepts else {
            return self.add(
                self.waiting(),
                Delivery::Event {
                    event: event.clone(),
                    hides: false,
                    participant: None,
                },
            );
        };

        let Some(row) = &event.row else {
            return event.warn("it is no JSON object with an `id`", dropped);
        };
        if !accepts.is_fit(row) {
            return event.warn("its `id` is not of the type of the rows' `id`", dropped);
        }

        let is_accepted = accepts.accepts(row);
        let mut waiting = self.waiting();

        // Removed also if the subscriber does not accept the new event: the values of the earlier
        // one are out of date.
        let hides = waiting.remove(row);

        if is_accepted {
            let participant = Some(row.reads.participant());
            self.add(
                waiting,
                Delivery::Event {
                    event: event.clone(),
                    hides,
                    participant,
                },
            );
        }
    }

    /// Adds a gap. If a gap already waits, it covers this one, because it is processed later than
    /// now. It keeps its position: the events behind it are processed after the rows were read.
    pub(super) fn gap(&self, reads: &Arc<SharedReads>) {
        let waiting = self.waiting();
        if !waiting.deliveries.iter().any(Delivery::is_gap) {
            let participant = self.accepts.as_ref().map(|_| reads.frequent_participant());
            self.add(
                waiting,
                Delivery::Gap {
                    participant,
                    waiting: Vec::new(),
                },
            );
        }
    }

    fn add(&self, mut waiting: MutexGuard<'_, Waiting>, delivery: Delivery) {
        if waiting.is_full {
            return;
        }

        waiting.deliveries.push_back(delivery);
        if !waiting.is_reading {
            waiting.unread += 1;
            waiting.unread_since.get_or_insert_with(Instant::now);
        }

        match self.accepts {
            Some(_) => self.bound_rows(&mut waiting),
            None => self.bound_payloads(&mut waiting),
        }

        drop(waiting);

        self.waker.wake();
    }

    /// Collapses the events about rows if too many wait, or ends the subscription of a client that
    /// does not read.
    fn bound_rows(&self, waiting: &mut Waiting) {
        // Events that arrived while the client was reading do not count against it.
        let (most, is_over) = match (waiting.is_reading, waiting.has_collapsed) {
            (true, _) => (self.most.saturating_mul(READING), true),
            (false, false) => (self.most, waiting.unread > self.most),
            (false, true) => (self.most, waiting.unread > self.most.saturating_mul(2)),
        };

        if waiting.deliveries.len() <= most || !is_over {
            return;
        }

        if waiting.is_reading || !waiting.has_collapsed || !waiting.is_unread_for(UNREAD) {
            waiting.collapse(self.most.saturating_mul(READING));
        } else {
            waiting.overflow();
        }
    }

    /// Ends the subscription if too many payloads wait, because they cannot be read again later, as
    /// rows can. A body may do anything with a payload before it takes the next one, so it counts
    /// as not reading only after a while.
    fn bound_payloads(&self, waiting: &mut Waiting) {
        let most = if waiting.is_unread_for(UNREAD) {
            self.most
        } else {
            self.most.saturating_mul(READING)
        };
        if waiting.deliveries.len() > most {
            waiting.overflow();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing under the lock can panic half-way.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Delivery> {
        let mut waiting = self.waiting();
        if waiting.is_full {
            Some(Delivery::Overflow)
        } else {
            waiting.deliveries.pop_front()
        }
    }

    /// Records that the client has read, and whether it still does, that is, whether it has
    /// received all responses.
    fn set_reading(&self, is_reading: bool) {
        let mut waiting = self.waiting();
        (waiting.unread, waiting.unread_since, waiting.has_collapsed) = (0, None, false);
        waiting.is_reading = is_reading;
    }
}

impl Delivery {
    fn is_gap(&self) -> bool {
        matches!(self, Self::Gap { .. })
    }
}

impl Waiting {
    /// Whether the client has read nothing for this long, although there was something to read.
    fn is_unread_for(&self, time: Duration) -> bool {
        self.unread_since
            .is_some_and(|since| since.elapsed() >= time)
    }

    /// Collapses all waiting deliveries into one gap, which keeps the ids of the first `most`
    /// changed rows. Deletions, and further rows that the client was not sent before, are dropped
    /// without a notice, which could also reveal changes of rows that it may not see. The book
    /// recommends another query after writes of such a size.
    fn collapse(&mut self, most: usize) {
        // A row that has changed again must not take the place of another.
        let mut ids = IndexSet::new();
        for delivery in self.deliveries.drain(..) {
            match delivery {
                Delivery::Gap { waiting, .. } => ids.extend(waiting),
                Delivery::Event { event, .. } => {
                    let row = event
                        .row
                        .as_ref()
                        .filter(|row| row.operation == Operation::Changed);
                    ids.extend(row.map(|row| row.id.clone()));
                }
                Delivery::Overflow => {}
            }
        }

        ids.truncate(most);
        let participant = Some(SharedReads::new().frequent_participant());
        self.deliveries.push_back(Delivery::Gap {
            participant,
            waiting: ids.into_iter().collect(),
        });

        (self.unread, self.has_collapsed) = (0, true);
    }

    /// Drops all deliveries, and ends the subscription.
    fn overflow(&mut self) {
        *self = Self {
            is_full: true,
            ..Self::default()
        };
    }

    /// Removes an earlier event of the same row; returns whether it was or hid a change.
    fn remove(&mut self, row: &RowEvent) -> bool {
        let of_row = |delivery: &Delivery| matches!(delivery, Delivery::Event { event, .. } if event.row.as_ref().is_some_and(|other| other.id == row.id));
        let earlier = self
            .deliveries
            .iter()
            .position(of_row)
            .and_then(|at| self.deliveries.remove(at));

        let Some(Delivery::Event { event, hides, .. }) = earlier else {
            return false;
        };

        hides
            || event
                .row
                .as_ref()
                .is_some_and(|row| row.operation == Operation::Changed)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}
