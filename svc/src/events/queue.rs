//! The event queue of one subscriber.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::Stream;
use futures_util::task::AtomicWaker;
use indexmap::IndexSet;

use super::{Event, Operation, RowEvent};
use crate::log_throttle::LogThrottle;
use crate::postgres::{Participant, SharedReads};
use crate::{Error, ErrorCode, Result};

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
pub(crate) enum Delivery {
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

/// The part of the hub that a leaving subscriber needs.
pub(super) trait Leave: fmt::Debug + Send + Sync {
    fn leave(&self, channel: &Arc<str>, key: usize);
}

/// The events of a channel for one subscriber, which leaves when this is dropped.
#[derive(Debug)]
pub(crate) struct Feed {
    hub: Arc<dyn Leave>,
    channel: Arc<str>,
    key: usize,
    queue: Arc<Queue>,
}

impl Feed {
    pub(super) fn new(
        hub: Arc<dyn Leave>,
        channel: Arc<str>,
        key: usize,
        queue: Arc<Queue>,
    ) -> Self {
        Self {
            hub,
            channel,
            key,
            queue,
        }
    }

    /// Drops the gaps from before the subscription.
    pub(super) fn forget_gaps(&self) {
        self.queue
            .waiting()
            .deliveries
            .retain(|delivery| !delivery.is_gap());
    }

    /// Records whether the client has received all responses about rows.
    pub(crate) fn set_reading(&self, is_reading: bool) {
        self.queue.set_reading(is_reading);
    }
}

impl Stream for Feed {
    type Item = Delivery;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Delivery>> {
        let is_of_rows = self.queue.accepts.is_some();
        if let Some(delivery) = self.queue.take() {
            // A subscriber to payloads may do anything with them; one to rows reports its responses
            // with `set_reading`.
            self.queue.set_reading(is_of_rows);
            return Poll::Ready(Some(delivery));
        }

        self.queue.set_reading(true);
        self.queue.waker.register(cx.waker());

        // An event may have arrived before the waker was registered.
        self.queue
            .take()
            .map_or(Poll::Pending, |delivery| Poll::Ready(Some(delivery)))
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.hub.leave(&self.channel, self.key);
    }
}

/// The error of a subscriber that was too slow.
pub(crate) fn too_slow() -> Error {
    let message = "the client takes events more slowly than they come; subscribe again, and read what is there now";
    Error::new(ErrorCode::SubscriptionTooSlow, message)
}

/// The payloads of a channel; created by [`Context::events`](crate::Context::events). The stream
/// ends after an error.
#[derive(Debug)]
pub struct Events(pub(crate) Option<Feed>);

impl Stream for Events {
    type Item = Result<String>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<String>>> {
        loop {
            let Some(feed) = &mut self.0 else {
                return Poll::Ready(None);
            };

            match std::task::ready!(Pin::new(feed).poll_next(cx)) {
                Some(Delivery::Event { event, .. }) => {
                    return Poll::Ready(Some(Ok(event.payload.clone())));
                }
                Some(Delivery::Gap { .. }) => {}
                Some(Delivery::Overflow) => {
                    self.0 = None;
                    return Poll::Ready(Some(Err(too_slow())));
                }
                None => return Poll::Ready(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::Range;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::{Accepts, Delivery, Queue, UNREAD};
    use crate::events::{Event, RowEvent};
    use crate::log_throttle::LogThrottle;
    use crate::postgres::SharedReads;

    impl<F: Fn(&RowEvent) -> bool + Send + Sync> Accepts for F {
        fn accepts(&self, event: &RowEvent) -> bool {
            self(event)
        }
    }

    fn all() -> Option<Arc<dyn Accepts>> {
        Some(Arc::new(|_: &RowEvent| true))
    }

    fn add(queue: &Queue, payloads: &[&str]) {
        let dropped = LogThrottle::every(Duration::from_secs(10));
        payloads.iter().for_each(|payload| {
            queue.event(&Arc::new(Event::new((*payload).to_owned())), &dropped)
        });
    }

    fn taken(queue: &Queue) -> Vec<String> {
        let shown = |delivery| match delivery {
            Delivery::Event { event, hides, .. } => {
                format!("{}{}", event.payload, if hides { " hides" } else { "" })
            }
            Delivery::Gap { waiting, .. } => format!("gap {waiting:?}"),
            Delivery::Overflow => "overflow".to_owned(),
        };

        std::iter::from_fn(|| queue.take())
            .take(5)
            .map(shown)
            .collect()
    }

    #[test]
    fn a_slow_reader_gets_the_last_event_of_each_row() {
        let queue = Queue::new(3, all());
        add(
            &queue,
            &[
                r#"{"id":1,"v":1}"#,
                r#"{"id":2}"#,
                r#"{"id":1,"v":2}"#,
                r#"{"id":2,"op":"delete"}"#,
            ],
        );

        assert_eq!(
            taken(&queue),
            [r#"{"id":1,"v":2} hides"#, r#"{"id":2,"op":"delete"} hides"#]
        );
    }

    #[test]
    fn payloads_are_all_kept_where_they_are_not_rows() {
        let queue = Queue::new(3, None);
        add(&queue, &["a", r#"{"id":1}"#, r#"{"id":1}"#]);
        assert_eq!(taken(&queue), ["a", r#"{"id":1}"#, r#"{"id":1}"#]);
    }

    #[test]
    fn events_that_are_not_asked_for_do_not_wait_and_hide_what_did() {
        let queue = Queue::new(1, Some(Arc::new(|row: &RowEvent| row.value("v").is_some())));
        add(&queue, &[r#"{"id":1,"v":1}"#, r#"{"id":2}"#, "x"]);
        assert_eq!(taken(&queue), [r#"{"id":1,"v":1}"#]);
        add(&queue, &[r#"{"id":1,"v":1}"#, r#"{"id":1}"#]);
        assert_eq!(taken(&queue), [""; 0]);
    }

    #[test]
    fn a_reader_that_is_too_slow_gets_nothing_but_the_end() {
        let queue = Queue::new(2, all());
        let flood = || (0..9).for_each(|id| add(&queue, &[&format!(r#"{{"id":{id}}}"#)]));
        flood();
        queue.waiting().unread_since = Instant::now().checked_sub(UNREAD);
        flood();
        assert_eq!(taken(&queue), ["overflow"; 5]);
    }

    #[test]
    fn a_flood_within_a_moment_is_a_gap_however_many_events_it_has() {
        let queue = Queue::new(2, all());
        (0..1_000).for_each(|id| add(&queue, &[&format!(r#"{{"id":{id}}}"#)]));
        let first = queue.take();
        let Some(Delivery::Gap { waiting, .. }) = first else {
            panic!("{first:?}")
        };
        assert!(waiting.len() <= 20, "{}", waiting.len());
    }

    #[test]
    fn rows_that_change_again_leave_room_for_others_in_a_gap() {
        let queue = Queue::new(2, all());
        let change =
            |ids: Range<u32>| ids.for_each(|id| add(&queue, &[&format!(r#"{{"id":{id}}}"#)]));
        (0..5).for_each(|_| change(0..10));
        change(10..18);
        let ids = |delivery| match delivery {
            Delivery::Event { event, .. } => event
                .row
                .iter()
                .map(|row| row.id.clone())
                .collect::<Vec<_>>(),
            Delivery::Gap { waiting, .. } => waiting,
            Delivery::Overflow => Vec::new(),
        };

        let kept: BTreeSet<String> = std::iter::from_fn(|| queue.take())
            .take(100)
            .flat_map(ids)
            .collect();

        assert_eq!(kept, (0..18).map(|id: u32| id.to_string()).collect());
    }

    #[test]
    fn gaps_do_not_add_up() {
        let queue = Queue::new(2, all());
        for _ in 0..5 {
            queue.gap(&SharedReads::new());
        }
        assert_eq!(taken(&queue), ["gap []"]);
    }

    #[test]
    fn a_gap_stays_before_the_deletions_behind_it() {
        let queue = Queue::new(9, all());
        queue.gap(&SharedReads::new());
        add(&queue, &[r#"{"id":1,"op":"delete"}"#]);
        queue.gap(&SharedReads::new());
        assert_eq!(taken(&queue), ["gap []", r#"{"id":1,"op":"delete"}"#]);
    }

    #[test]
    fn events_of_a_reader_become_one_gap_that_knows_their_rows() {
        let queue = Queue::new(2, all());
        queue.set_reading(true);
        for id in 0..20 {
            add(&queue, &[&format!(r#"{{"id":{id}}}"#)]);
        }

        assert_eq!(
            queue.waiting().deliveries.len(),
            20,
            "what comes at once waits"
        );

        for id in 20..1_000 {
            add(&queue, &[&format!(r#"{{"id":{id}}}"#)]);
        }

        let waiting = queue.waiting().deliveries.len();
        assert!(waiting <= 20, "{waiting} wait");
        let first = queue.take();
        let Some(Delivery::Gap { waiting, .. }) = first else {
            panic!("{first:?}")
        };

        assert_eq!(waiting.len(), 20);
    }

    #[test]
    fn payloads_for_one_who_took_another_have_as_much_room() {
        let queue = Queue::new(2, None);
        queue.set_reading(false);
        (0..20).for_each(|_| add(&queue, &["x"]));
        assert_eq!(taken(&queue), ["x"; 5]);
        (0..6).for_each(|_| add(&queue, &["x"]));
        assert_eq!(taken(&queue), ["overflow"; 5]);
    }

    #[test]
    fn payloads_for_one_who_takes_none_for_a_while_have_little_room() {
        let queue = Queue::new(2, None);
        add(&queue, &["x", "x", "x"]);
        queue.waiting().unread_since = Instant::now().checked_sub(UNREAD);

        // Taking a payload is reading.
        queue.set_reading(false);
        add(&queue, &["x"]);
        assert_eq!(queue.waiting().deliveries.len(), 4);
        queue.waiting().unread_since = Instant::now().checked_sub(UNREAD);
        add(&queue, &["x"]);

        assert_eq!(taken(&queue), ["overflow"; 5]);
    }

    #[test]
    fn payloads_for_one_who_waits_for_them_have_more_room() {
        let queue = Queue::new(2, None);
        queue.set_reading(true);
        for _ in 0..20 {
            add(&queue, &["x"]);
        }

        assert_eq!(taken(&queue), ["x"; 5]);
        for _ in 0..6 {
            add(&queue, &["x"]);
        }

        assert_eq!(taken(&queue), ["overflow"; 5]);
    }
}
