//! Slow subscribers: the events that they still get, and the ends of their subscriptions.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Accepts, Delivery, Queue, UNREAD};
use crate::events::{Event, RowEvent};
use svc_core::log_throttle::LogThrottle;
use svc_postgres::SharedReads;

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
    payloads
        .iter()
        .for_each(|payload| queue.event(&Arc::new(Event::new((*payload).to_owned())), &dropped));
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
fn payloads_that_are_not_rows_are_all_kept() {
    let queue = Queue::new(3, None);
    add(&queue, &["a", r#"{"id":1}"#, r#"{"id":1}"#]);
    assert_eq!(taken(&queue), ["a", r#"{"id":1}"#, r#"{"id":1}"#]);
}

#[test]
fn unwanted_events_are_not_queued_and_remove_queued_ones() {
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
    let change = |ids: Range<u32>| ids.for_each(|id| add(&queue, &[&format!(r#"{{"id":{id}}}"#)]));
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
fn a_reader_that_took_a_payload_keeps_the_larger_bound() {
    let queue = Queue::new(2, None);
    queue.set_reading(false);
    (0..20).for_each(|_| add(&queue, &["x"]));
    assert_eq!(taken(&queue), ["x"; 5]);
    (0..6).for_each(|_| add(&queue, &["x"]));
    assert_eq!(taken(&queue), ["overflow"; 5]);
}

#[test]
fn an_idle_reader_has_the_small_bound() {
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
fn a_waiting_reader_has_the_larger_bound() {
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
