//! Load shedding: an adaptive limit of requests in flight, and a short queue in front of it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::gradient::{Gradient, Window};
use super::pressure::Pressure;
use super::shedding::{Shed, Shedding};
use svc_core::task::boxed::boxed_rare;

/// The minimum and maximum length of a window, after which the limit is adjusted: as long as a
/// request takes.
const WINDOW: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// The maximum time that a request waits for others once there have been too many for long.
const PATIENCE: Duration = Duration::from_millis(25);
/// Its minimum if most requests are rejected anyway: then it is half the latency at low load, so
/// that admitted requests are answered soon.
const SHORT_PATIENCE: Duration = Duration::from_millis(2);
/// The time without a queue after which the next queue counts as a burst again.
const QUIET: Duration = Duration::from_secs(1);
/// The maximum number of waiting requests, as a multiple of the maximum number of running ones.
const WAITING: usize = 4;

/// Admits as many requests as the service can handle.
#[derive(Debug)]
pub(crate) struct Overload {
    permits: Semaphore,
    /// The number of permits, including permits of running requests and owed permits.
    limit: AtomicUsize,
    /// Permits to withdraw when they are returned.
    owed: AtomicUsize,
    waiting: AtomicUsize,
    /// When the queue started, and when a request last entered it; in microseconds since `began`.
    crowded: [AtomicU64; 2],
    /// For how long a queue counts as a burst, which requests wait out.
    shed_after: Duration,
    most: usize,
    began: Instant,
    seen: Seen,
    /// The maximum wait of a request once the queue is no burst, in microseconds.
    patience: AtomicU64,
    is_pressed: AtomicBool,
    laws: Mutex<Laws>,
    shedding: Arc<Shedding>,
}

/// The algorithms that derive the limit and the queue from the statistics.
#[derive(Debug)]
struct Laws {
    gradient: Gradient,
    pressure: Pressure,
}

/// The statistics of the requests that ended since the last adjustment of the limit.
#[derive(Debug, Default)]
struct Seen {
    /// In microseconds since `began`.
    since: AtomicU64,
    /// The length of the window, in microseconds.
    window: AtomicU64,
    /// The mean time of the requests of the last window, in microseconds.
    last: AtomicU64,
    /// The lower of the last two means: a brief stall of the machine says nothing about the next
    /// window.
    mean: AtomicU64,
    micros: AtomicU64,
    requests: AtomicU64,
    peak: AtomicUsize,
    refused: AtomicU64,
}

/// A request that may run; it ends when this value is dropped.
#[derive(Debug)]
pub(in crate::http) struct Admitted<'a> {
    overload: &'a Overload,
    permit: Option<SemaphorePermit<'a>>,
    since: Instant,
}

impl Overload {
    /// Admits between `least` and `most` requests at once, and rejects others once the queue has
    /// lasted for `shed_after`.
    pub(crate) fn new(least: usize, most: usize, shed_after: Duration) -> Self {
        Self {
            permits: Semaphore::new(most),
            limit: AtomicUsize::new(most),
            owed: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            crowded: Default::default(),
            shed_after,
            most,
            began: Instant::now(),
            seen: Seen::default(),
            patience: AtomicU64::new(micros(PATIENCE)),
            is_pressed: AtomicBool::new(false),
            laws: Mutex::new(Laws {
                gradient: Gradient::new(least, most),
                pressure: Pressure::default(),
            }),
            shedding: Arc::default(),
        }
    }

    /// Admits a request, now or after a short wait; `None` if there are too many.
    pub(super) async fn admit(&self) -> Option<Admitted<'_>> {
        let permit = match self.permits.try_acquire() {
            Ok(permit) => permit,
            Err(_) => {
                // Boxed, because most requests do not wait, and its timer is large.
                let waited = boxed_rare(|| self.queue()).await;
                if waited.is_none() {
                    self.refuse();
                }
                waited?
            }
        };

        Some(Admitted {
            overload: self,
            permit: Some(permit),
            since: Instant::now(),
        })
    }

    /// Whether a request that arrived now would be rejected at once; if so, counts it as rejected.
    pub(super) fn is_refusing(&self) -> bool {
        if self.permits.available_permits() > 0 {
            return false;
        }
        let is_refusing = self.is_in_vain(self.waiting.load(Ordering::Relaxed), self.patience());
        if is_refusing {
            self.refuse();
        }
        is_refusing
    }

    /// Returns the state of the service, while requests are rejected.
    pub(in crate::http) fn shed(&self) -> Option<Shed> {
        self.shedding.state()
    }

    fn refuse(&self) {
        self.seen.refused.fetch_add(1, Ordering::Relaxed);
        self.shedding.refused();
    }

    /// Waits in the queue: for long in a burst, otherwise briefly. A request that would wait in
    /// vain is rejected at once.
    async fn queue(&self) -> Option<SemaphorePermit<'_>> {
        let place = Place(&self.waiting);
        let patience = self.patience();
        let ahead = self.waiting.fetch_add(1, Ordering::Relaxed);

        if self.is_in_vain(ahead, patience) {
            return None;
        }

        let permit = tokio::time::timeout(patience, self.permits.acquire()).await;
        drop(place);

        permit.ok()?.ok()
    }

    /// Whether a request behind `ahead` others would not get a permit in time.
    fn is_in_vain(&self, ahead: usize, patience: Duration) -> bool {
        ahead > self.most.saturating_mul(WAITING) || self.wait_behind(ahead) > patience
    }

    /// Returns the maximum wait of a request that arrives now.
    fn patience(&self) -> Duration {
        let short = Duration::from_micros(self.patience.load(Ordering::Relaxed));
        match self.left_of_burst() {
            Some(left) if !self.is_pressed.load(Ordering::Relaxed) => left.max(short),
            _ => short,
        }
    }

    /// Returns the expected wait behind `ahead` requests, at the current latency.
    fn wait_behind(&self, ahead: usize) -> Duration {
        let (limit, mean) = (
            self.limit.load(Ordering::Relaxed),
            self.seen.mean.load(Ordering::Relaxed),
        );
        Duration::from_micros(mean).mul_f64(ahead as f64 / limit.max(1) as f64)
    }

    /// Returns for how long the queue still counts as a burst; `None` if it has lasted longer.
    fn left_of_burst(&self) -> Option<Duration> {
        let now = micros(self.began.elapsed());
        let [began, last] = &self.crowded;
        if now.saturating_sub(last.swap(now, Ordering::Relaxed)) > micros(QUIET) {
            began.store(now, Ordering::Relaxed);
        }

        let since = Duration::from_micros(now.saturating_sub(began.load(Ordering::Relaxed)));

        self.shed_after
            .checked_sub(since)
            .filter(|left| !left.is_zero())
    }

    /// Whether a queue has lasted so long that requests wait in it only briefly.
    fn is_crowded(&self, now: u64) -> bool {
        let [began, last] = self
            .crowded
            .each_ref()
            .map(|time| time.load(Ordering::Relaxed));
        now.saturating_sub(last) <= micros(QUIET)
            && now.saturating_sub(began) >= micros(self.shed_after)
    }

    /// Records a completed request.
    fn saw(&self, since: Instant) {
        let now = Instant::now();
        let running = self
            .limit
            .load(Ordering::Relaxed)
            .saturating_sub(self.permits.available_permits());
        self.seen
            .micros
            .fetch_add(micros(now - since), Ordering::Relaxed);
        self.seen.requests.fetch_add(1, Ordering::Relaxed);

        // A load first: a write by every request would move the cache line between the processors.
        if running > self.seen.peak.load(Ordering::Relaxed) {
            self.seen.peak.fetch_max(running, Ordering::Relaxed);
        }

        let time = micros(now - self.began);

        if time - self.seen.since.load(Ordering::Relaxed).min(time)
            >= self.seen.window.load(Ordering::Relaxed)
        {
            self.look(time);
        }
    }

    /// Ends a window. The first caller to get the lock does it for all. Cold, because a window has
    /// many requests.
    #[cold]
    #[inline(never)]
    fn look(&self, now: u64) {
        let mut laws = match self.laws.try_lock() {
            Ok(laws) => laws,
            // A panic cannot leave them halfway.
            Err(TryLockError::Poisoned(laws)) => laws.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };

        self.seen.since.store(now, Ordering::Relaxed);
        let requests = self.seen.requests.swap(0, Ordering::Relaxed).max(1);
        let refused = self.seen.refused.swap(0, Ordering::Relaxed);
        self.shedding.answered(requests);
        let sum = self.seen.micros.swap(0, Ordering::Relaxed);
        let mean = sum as f64 / requests as f64;
        let window = (sum / requests).clamp(micros(WINDOW[0]), micros(WINDOW[1]));

        self.seen.window.store(window, Ordering::Relaxed);
        let last = self.seen.last.swap(sum / requests, Ordering::Relaxed);
        self.seen
            .mean
            .store(last.min(sum / requests), Ordering::Relaxed);
        let peak = self.seen.peak.swap(0, Ordering::Relaxed);
        let may_probe = refused > 0 || !self.is_crowded(now);
        laws.pressure = laws.pressure.after(refused, requests);
        let is_pressed = laws.pressure.is_high();
        self.set(laws.gradient.after(Window {
            mean,
            peak,
            may_probe,
            is_pressed,
        }));

        let is_short = is_pressed && !laws.pressure.is_trial();
        let half = Duration::from_secs_f64(laws.gradient.undisturbed() / 2e6);
        let patience = if is_short {
            half.clamp(SHORT_PATIENCE, PATIENCE)
        } else {
            PATIENCE
        };

        self.patience.store(micros(patience), Ordering::Relaxed);

        self.is_pressed.store(is_pressed, Ordering::Relaxed);
    }

    /// Changes the number of permits. The lock of the laws is held, so no other thread does.
    fn set(&self, limit: usize) {
        let old = self.limit.swap(limit, Ordering::Relaxed);
        if limit >= old {
            let more = limit - old;
            let forgiven = self.take_owed(more);
            self.permits.add_permits(more - forgiven);
        } else {
            let less = old - limit;

            // Only free permits can be forgotten; running requests owe the others, and give them up
            // when they end.
            let taken = self.permits.forget_permits(less);
            self.owed.fetch_add(less - taken, Ordering::Relaxed);
        }
    }

    /// Reduces the owed permits by up to `most`; returns by how many.
    fn take_owed(&self, most: usize) -> usize {
        if self.owed.load(Ordering::Relaxed) == 0 {
            return 0;
        }

        let less = |owed: usize| Some(owed.saturating_sub(most));
        let before = self
            .owed
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .unwrap_or_default();

        before.min(most)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        // Recorded while the permit is still held, so that the request counts among the running
        // ones.
        self.overload.saw(self.since);
        let Some(permit) = self.permit.take() else {
            return;
        };
        if self.overload.take_owed(1) == 1 {
            permit.forget();
        }
    }
}

/// A place in the queue.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use futures_util::future::{join_all, poll_immediate};

    use super::{Ordering, Overload, PATIENCE, micros};

    #[tokio::test]
    async fn a_request_that_would_wait_too_long_is_refused_at_once() {
        let overload = Overload::new(1, 1, Duration::from_secs(60));
        let running = overload.admit().await;

        // One after the other, 25 seconds each: three get a permit within the minute of a burst.
        overload.seen.mean.store(25_000_000, Ordering::Relaxed);
        let mut waiting: Vec<_> = (0..3).map(|_| overload.admit().boxed()).collect();
        assert!(
            join_all(waiting.iter_mut().map(poll_immediate))
                .await
                .iter()
                .all(Option::is_none)
        );

        assert!(
            matches!(overload.admit().now_or_never(), Some(None)),
            "the fourth would wait for 75 s"
        );
        drop(running);

        assert!(waiting.remove(0).await.is_some(), "the first has its turn");
    }

    #[tokio::test]
    async fn many_clients_of_fast_requests_are_not_refused() {
        let overload = Overload::new(1, 8, Duration::ZERO);
        let mut running = Vec::new();
        for _ in 0..8 {
            running.push(overload.admit().await);
        }

        overload.seen.mean.store(60, Ordering::Relaxed);

        // A machine that stands still for a moment would have them wait for too long.
        overload
            .patience
            .store(micros(Duration::from_secs(60)), Ordering::Relaxed);
        let mut waiting: Vec<_> = (0..32).map(|_| overload.admit().boxed()).collect();
        assert!(
            join_all(waiting.iter_mut().map(poll_immediate))
                .await
                .iter()
                .all(Option::is_none)
        );

        overload.patience.store(micros(PATIENCE), Ordering::Relaxed);

        // The next one would wait for 32 ms if requests take 8.
        overload.seen.mean.store(8_000, Ordering::Relaxed);
        assert!(matches!(overload.admit().now_or_never(), Some(None)));
        drop(running);
        let answered = waiting
            .into_iter()
            .map(|turn| async { turn.await.is_some() });

        assert!(
            join_all(answered)
                .await
                .into_iter()
                .all(|had_turn| had_turn),
            "each has its turn"
        );
    }
}
