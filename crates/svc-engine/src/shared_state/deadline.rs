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

use svc_core::beats::{MAX_BEATS, beats_between};

/// The number of beats of a deadline.
const BEATS: u32 = 16;
/// The minimum and maximum time between two beats.
const BEAT: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];
/// Requests of different threads wait in different shards, so that threads do not contend for one
/// lock.
const SHARDS: usize = 16;

/// The waiting requests, and the current time in beats.
#[derive(Debug)]
pub struct RequestDeadlines {
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
    pub fn new(limit: Duration) -> Arc<Self> {
        let beat = (limit / BEATS).clamp(BEAT[0], BEAT[1]);
        let most = u32::try_from(limit.as_nanos().div_ceil(beat.as_nanos())).unwrap_or(MAX_BEATS);
        let deadlines = Arc::new(Self {
            limit,
            beat,
            most: most.min(MAX_BEATS),
            now: AtomicU32::new(0),
            shards: Default::default(),
        });

        // A weak reference, so that the task ends with the application.
        tokio::spawn(watch_over(Arc::downgrade(&deadlines), beat));

        deadlines
    }

    /// Returns the beat at which the time of a request starts that begins now: the next one.
    pub(crate) fn start(&self) -> u32 {
        self.now().wrapping_add(1)
    }

    /// Returns the remaining time of a request that started at a beat.
    pub(crate) fn time_left(&self, started: u32) -> Duration {
        self.beat * self.most.saturating_sub(beats_between(started, self.now()))
    }

    /// Returns the output of a request that started at a beat; `None` if it is late, and must be
    /// dropped.
    pub(crate) async fn bound<F: Future>(
        &self,
        started: u32,
        request: Pin<&mut F>,
    ) -> Option<F::Output> {
        Self::bound_by(Some(self), started, request).await
    }

    /// The same, for a request that may have no time limit. One function for both, so that the
    /// request is inlined.
    pub(crate) async fn bound_by<F: Future>(
        deadlines: Option<&Self>,
        started: u32,
        mut request: Pin<&mut F>,
    ) -> Option<F::Output> {
        let mut ticket = deadlines.map(|deadlines| Ticket {
            deadlines,
            since: started,
            place: None,
        });

        poll_fn(|cx: &mut Context<'_>| {
            // The request is polled before its time is checked: a result that is there counts, even
            // if it is late.
            if let Poll::Ready(done) = request.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }

            match &mut ticket {
                Some(ticket) if ticket.is_late() => Poll::Ready(None),
                Some(ticket) => {
                    // A beat between the check and this entry does not wake the request, but the
                    // next one does.
                    ticket.wait(cx.waker());
                    Poll::Pending
                }
                None => Poll::Pending,
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
        let now = self.now.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let mut late = Vec::new();
        for shard in 0..SHARDS {
            late.extend(
                self.shard(shard)
                    .iter()
                    .filter(|(_, waiting)| beats_between(waiting.since, now) >= self.most)
                    .map(|(_, waiting)| waiting.waker.clone()),
            );

            // Woken after the lock is released, because waking may run foreign code.
            late.drain(..).for_each(Waker::wake);
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
        beats_between(self.since, self.deadlines.now()) >= self.deadlines.most
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
                let waiting = Waiting {
                    since: self.since,
                    waker: waker.clone(),
                };
                let key = self.deadlines.shard(shard).insert(waiting);
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

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Wake;

    use super::*;

    /// A waker that records whether a shard is locked when it is called.
    struct Looking {
        deadlines: Arc<RequestDeadlines>,
        free: AtomicUsize,
        locked: AtomicUsize,
    }

    impl Wake for Looking {
        fn wake(self: Arc<Self>) {
            let is_free = |shard: &Shard| shard.0.try_lock().is_ok();
            let count = if self.deadlines.shards.iter().all(is_free) {
                &self.free
            } else {
                &self.locked
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn late_requests_are_woken_without_a_lock() {
        let deadlines = RequestDeadlines::new(Duration::from_secs(16));
        let looking = Arc::new(Looking {
            deadlines: deadlines.clone(),
            free: AtomicUsize::new(0),
            locked: AtomicUsize::new(0),
        });

        let mut ticket = Ticket {
            deadlines: &deadlines,
            since: deadlines.start(),
            place: None,
        };
        ticket.wait(&Waker::from(looking.clone()));
        (0..=deadlines.most).for_each(|_| deadlines.beat());

        assert_eq!(looking.locked.load(Ordering::Relaxed), 0);
        assert!(looking.free.load(Ordering::Relaxed) > 0, "nothing is woken");
    }

    /// The beats of a service that has run for more than a year.
    #[tokio::test]
    async fn a_request_is_late_in_time_across_the_largest_number_of_beats() {
        let deadlines = RequestDeadlines::new(Duration::from_millis(160));
        deadlines.now.store(u32::MAX - 1, Ordering::Relaxed);
        let started = deadlines.start();
        assert!(deadlines.time_left(started) <= deadlines.limit);

        let request = pin!(std::future::pending::<()>());
        let bound = deadlines.bound(started, request);
        let ended = tokio::time::timeout(Duration::from_secs(60), bound).await;

        assert_eq!(ended, Ok(None));
        assert_eq!(deadlines.time_left(started), Duration::ZERO);
    }
}
