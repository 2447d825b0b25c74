//! Fallback for an unavailable Redis: meanwhile this process counts by itself, and it returns to
//! Redis once that responds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::redis::RedisStore;
use super::request::{Standings, Takes};
use svc_core::redis_client::CommandError;

/// The time between two requests that probe an unavailable Redis. No other request waits for it
/// meanwhile.
const RETRY: Duration = Duration::from_millis(500);

/// Counts in Redis as long as it responds in time.
#[derive(Debug)]
pub(in crate::rate_limit) struct Takeover {
    redis: RedisStore,
    began: Instant,
    /// The time of the next probe, in milliseconds since `began`; 0 while Redis is available.
    retry_at: AtomicU64,
    /// The number of requests counted here since Redis became unavailable.
    alone: AtomicU64,
}

impl Takeover {
    pub(in crate::rate_limit) fn new(redis: RedisStore) -> Self {
        Self {
            redis,
            began: Instant::now(),
            retry_at: AtomicU64::new(0),
            alone: AtomicU64::new(0),
        }
    }

    /// Takes all counts of a request, or none of them. Returns `None` if Redis is unavailable.
    pub(super) async fn take(&self, takes: Takes<'_>) -> Option<Standings> {
        let answer = match self.may_ask() {
            false => None,
            true => self
                .noted(self.redis.take(takes).await)
                // States are paired with limits by position, so a shorter list cannot be used.
                .filter(|standings| standings.len() == takes.amounts.len()),
        };

        if answer.is_none() {
            self.alone.fetch_add(1, Ordering::Relaxed);
        }

        answer
    }

    /// Gives back a part of the amount taken, if Redis is available.
    pub(super) async fn give_back(&self, takes: Takes<'_>, window: u64) {
        if self.retry_at.load(Ordering::Relaxed) == 0 {
            self.noted(self.redis.give_back(takes, window).await);
        }
    }

    /// Whether this process counts by itself.
    pub(super) fn is_alone(&self) -> bool {
        self.retry_at.load(Ordering::Relaxed) != 0
    }

    /// Whether Redis is available, or this request probes it.
    fn may_ask(&self) -> bool {
        let retry_at = self.retry_at.load(Ordering::Relaxed);
        retry_at == 0 || {
            let now = self.now();
            let next = now + as_millis(RETRY);

            // One request wins the exchange and probes; the others are counted here at once.
            now >= retry_at
                && self
                    .retry_at
                    .compare_exchange(retry_at, next, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
        }
    }

    /// Records and logs changes of Redis's availability.
    fn noted<T>(&self, answer: Result<T, CommandError>) -> Option<T> {
        match answer {
            Ok(answer) => {
                if self.retry_at.swap(0, Ordering::Relaxed) != 0 {
                    let requests = self.alone.swap(0, Ordering::Relaxed);
                    tracing::info!(
                        requests,
                        "rate limits are counted in Redis again; this process counted the requests in between"
                    );
                }
                Some(answer)
            }
            Err(error) => {
                // Only the first failure of an outage is logged.
                if self
                    .retry_at
                    .swap(self.now() + as_millis(RETRY), Ordering::Relaxed)
                    == 0
                {
                    tracing::warn!(
                        %error,
                        "Redis is unavailable; rate limits are counted by this process alone until it responds"
                    );
                }
                None
            }
        }
    }

    fn now(&self) -> u64 {
        // Never 0, which means that Redis is available.
        as_millis(self.began.elapsed()).max(1)
    }
}

fn as_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
