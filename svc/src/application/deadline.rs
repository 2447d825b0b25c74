//! The time limit of requests.
//!
//! A timer for each request would cost as much as finding its plan. Instead, a request that has to
//! wait records the beat at which it started, and one task that counts the beats wakes late
//! requests.

use std::future::{Future, poll_fn};
use std::mem::replace;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use slab::Slab;

/// The number of beats of a deadline.
const BEATS: u32 = 16;
/// The minimum and maximum time between two beats.
const BEAT: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];
/// Requests of different threads wait in different shards, so that threads do not contend for one
/// lock.
const SHARDS: usize = 16;

/// The waiting requests, and the current time in beats.
#[derive(Debug)]
pub(crate) struct RequestDeadlines {
    pub(crate) limit: Duration,
    beat: Duration,
    /// The maximum number of beats of a request.
    most: u32,
    now: AtomicU32,
    shards: [Shard; SHARDS],
}

/// Aligned to a separate cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<Slab<Waiting>>);

#[derive(Debug)]
struct Waiting {
    since: u32,
    waker: Waker,
}

impl RequestDeadlines {
    /// Creates the deadlines for requests with this time limit. A task watches over them for as
    /// long as the value lives.
    pub(crate) fn new(limit: Duration) -> Arc<Self> {
        let beat = (limit / BEATS).clamp(BEAT[0], BEAT[1]);
        let most = u32::try_from(limit.as_nanos().div_ceil(beat.as_nanos())).unwrap_or(u32::MAX);
        let deadlines = Arc::new(Self {
            limit,
            beat,
            most,
            now: AtomicU32::new(0),
            shards: Default::default(),
        });

        // A weak reference, so that the task ends with the application.
        tokio::spawn(watch_over(Arc::downgrade(&deadlines), beat));

        deadlines
    }

    /// Returns the beat at which the time of a request starts that begins now: the next one.
    pub(crate) fn start(&self) -> u32 {
        self.now().saturating_add(1)
    }

    /// Returns the remaining time of a request that started at a beat.
    pub(crate) fn time_left(&self, started: u32) -> Duration {
        self.beat * self.most.saturating_sub(self.now().saturating_sub(started))
    }

    /// Returns the output of a request that started at a beat; `None` if it is late, and must be
    /// dropped.
    pub(crate) async fn bound<F: Future>(
        &self,
        started: u32,
        mut request: Pin<&mut F>,
    ) -> Option<F::Output> {
        let mut ticket = Ticket {
            deadlines: self,
            since: started,
            place: None,
        };

        // The request is polled before its time is checked: a result that is there counts, even if
        // it is late.
        poll_fn(|cx: &mut Context<'_>| match request.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if ticket.is_late() => Poll::Ready(None),
            Poll::Pending => {
                // A beat between the check and this entry does not wake the request, but the next
                // one does.
                ticket.wait(cx.waker());
                Poll::Pending
            }
        })
        .await
    }

    fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    fn shard(&self, shard: usize) -> MutexGuard<'_, Slab<Waiting>> {
        // Nothing under the lock can panic halfway.
        self.shards[shard % SHARDS]
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn beat(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        for shard in 0..SHARDS {
            for (_, waiting) in self.shard(shard).iter() {
                if now.saturating_sub(waiting.since) >= self.most {
                    waiting.waker.wake_by_ref();
                }
            }
        }
    }
}

async fn watch_over(deadlines: Weak<RequestDeadlines>, beat: Duration) {
    loop {
        tokio::time::sleep(beat).await;
        let Some(deadlines) = deadlines.upgrade() else {
            return;
        };
        deadlines.beat();
    }
}

/// A request with a time limit.
struct Ticket<'a> {
    deadlines: &'a RequestDeadlines,
    /// The beat after the one at which the request started.
    since: u32,
    /// The shard and the key of its entry, and the waker registered there.
    place: Option<(usize, usize, Waker)>,
}

impl Ticket<'_> {
    fn is_late(&self) -> bool {
        self.deadlines.now().saturating_sub(self.since) >= self.deadlines.most
    }

    fn wait(&mut self, waker: &Waker) {
        match &mut self.place {
            // A request is mostly polled by the same task, and then needs no lock.
            Some((_, _, known)) if known.will_wake(waker) => {}
            Some((shard, key, known)) => {
                known.clone_from(waker);
                let waker = waker.clone();
                let before = self
                    .deadlines
                    .shard(*shard)
                    .get_mut(*key)
                    .map(|waiting| replace(&mut waiting.waker, waker));
                // Dropping a waker may run foreign code.
                drop(before);
            }
            None => {
                let shard = shard_of_thread();
                let key = self.deadlines.shard(shard).insert(Waiting {
                    since: self.since,
                    waker: waker.clone(),
                });
                self.place = Some((shard, key, waker.clone()));
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if let Some((shard, key, _)) = self.place.take() {
            // Removed under the lock and dropped after it, because dropping a waker may run foreign
            // code.
            let waiting = self.deadlines.shard(shard).try_remove(key);
            drop(waiting);
        }
    }
}

/// Threads are assigned to shards round-robin.
fn shard_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    SHARD.with(|shard| *shard)
}
