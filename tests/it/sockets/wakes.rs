//! Events that are announced from another thread while their socket is busy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use svc::SubscriptionsConfig;
use svc::futures_util::stream;
use svc::prelude::*;
use svc_tests::{App, Socket};

use super::service::nowhere;

/// The events of the stream.
const EVENTS: i32 = 2_000;
/// The microseconds for which the stream is woken for nothing before an event, at most.
const MAX_MICROS: u64 = 100;
/// The time for the socket to wait again.
const REST: Duration = Duration::from_micros(100);

/// The state that a stream shares with the thread that wakes it.
#[derive(Default)]
struct Pulse {
    has_event: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Pulse {
    fn task(&self) -> MutexGuard<'_, Option<Waker>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let task = self.task().clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// Wakes the stream for nothing, and for an event after a rest, until the stream has ended.
fn beat(stream: &Weak<Pulse>) {
    let mut micros = 0;
    while let Some(pulse) = stream.upgrade() {
        if !pulse.has_event.load(Ordering::SeqCst) {
            let end = Instant::now() + Duration::from_micros(micros);
            while Instant::now() < end {
                pulse.wake();
            }
            thread::sleep(REST);
            pulse.has_event.store(true, Ordering::SeqCst);
            pulse.wake();
            micros = (micros + 1) % MAX_MICROS;
        }
        drop(pulse);
        thread::sleep(REST);
    }
}

/// One to a number.
#[svc::subscription]
fn restless(count: i32) -> impl Stream<Item = i32> {
    let pulse = Arc::<Pulse>::default();
    let known = Arc::downgrade(&pulse);
    thread::spawn(move || beat(&known));
    let mut number = 0;
    stream::poll_fn(move |cx| {
        if number == count {
            return Poll::Ready(None);
        }
        // Registered first: an event between the two steps would otherwise wake nobody.
        *pulse.task() = Some(cx.waker().clone());
        if pulse.has_event.swap(false, Ordering::SeqCst) {
            number += 1;
            Poll::Ready(Some(number))
        } else {
            Poll::Pending
        }
    })
}

#[svc::query]
fn idle() -> bool {
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_arrives_however_often_its_stream_was_woken_for_nothing() {
    // No ping wakes the socket meanwhile.
    let subscriptions = SubscriptionsConfig {
        ping_interval: Duration::from_secs(3_600),
        ..SubscriptionsConfig::default()
    };
    let options = AppOptions::new().config(SvcConfig {
        subscriptions,
        database: nowhere(),
        ..SvcConfig::default()
    });
    let options = options
        .queries(queries![idle])
        .subscriptions(subscriptions![restless]);
    let app = App::serve(options).await.unwatched();

    let mut socket = Socket::ready(&app).await;
    let document = format!("subscription {{ restless(count: {EVENTS}) }}");
    socket.subscribe("1", &document).await;
    for number in 1..=EVENTS {
        let message = socket.next().await;
        assert_eq!(
            message["payload"],
            json!({ "data": { "restless": number } }),
            "{message}"
        );
    }
    assert_eq!(socket.next().await["type"], "complete");
}
