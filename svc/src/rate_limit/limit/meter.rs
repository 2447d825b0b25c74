//! The arithmetic of the strategies, in integers only, so that nothing is lost at the edges of
//! windows. Times are in milliseconds since 1970. `take.lua` does the same in Redis.

use crate::rate_limit::RateLimitStrategy;

/// The numbers of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rate_limit) struct Meter {
    pub(in crate::rate_limit) strategy: RateLimitStrategy,
    pub(in crate::rate_limit) count: u64,
    pub(in crate::rate_limit) window: u64,
    /// The size of a token bucket.
    pub(in crate::rate_limit) burst: u64,
}

/// The amount that was taken from a limit, initially zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::rate_limit) struct Bucket {
    /// The start of the window; for a token bucket, the time of its level.
    pub(in crate::rate_limit) at: u64,
    /// The amount taken in the window; for a token bucket, the missing tokens, times the window.
    pub(in crate::rate_limit) used: u64,
    /// The amount taken in the previous window.
    pub(in crate::rate_limit) before: u64,
}

/// The state of a limit, as reported to its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rate_limit) struct Standing {
    /// Milliseconds until the same request would be allowed, if it is not allowed now.
    pub(in crate::rate_limit) wait: Option<u64>,
    /// The remaining amount.
    pub(in crate::rate_limit) remaining: u64,
    /// Milliseconds until the window ends; for a token bucket, until it is full.
    pub(in crate::rate_limit) reset: u64,
    /// The window of the amount taken; used for giving back.
    pub(in crate::rate_limit) window: u64,
    /// Whether the amount counts in this process for the client's group; used for giving back.
    pub(in crate::rate_limit) is_shared: bool,
    /// Whether the state is Redis's, and the amount is counted there.
    pub(in crate::rate_limit) is_in_redis: bool,
}

impl Meter {
    /// The maximum that can be taken at once.
    pub(in crate::rate_limit) fn capacity(&self) -> u64 {
        if self.strategy == RateLimitStrategy::TokenBucket {
            self.burst
        } else {
            self.count
        }
    }

    /// Advances the bucket to a time. An earlier time changes nothing.
    pub(in crate::rate_limit) fn advanced(&self, bucket: Bucket, now: u64) -> Bucket {
        let now = now.max(bucket.at);
        if self.strategy == RateLimitStrategy::TokenBucket {
            // Levels are multiplied by the window: a millisecond then refills `count` units, and no
            // fraction is lost.
            let refilled = (now - bucket.at).saturating_mul(self.count);
            return Bucket {
                at: now,
                used: bucket.used.saturating_sub(refilled),
                before: 0,
            };
        }

        if now - bucket.at < self.window {
            return bucket;
        }

        let start = now - now % self.window;
        let slides =
            self.strategy == RateLimitStrategy::SlidingWindow && start == bucket.at + self.window;

        Bucket {
            at: start,
            used: 0,
            before: if slides { bucket.used } else { 0 },
        }
    }

    /// Takes from an advanced bucket, or returns the wait in milliseconds. An amount over the
    /// capacity never fits.
    pub(in crate::rate_limit) fn take(
        &self,
        bucket: Bucket,
        now: u64,
        cost: u64,
    ) -> Result<Bucket, u64> {
        let now = now.max(bucket.at);
        if cost > self.capacity() {
            return Err(self.window);
        }

        if self.strategy == RateLimitStrategy::TokenBucket {
            let used = bucket.used + cost * self.window;
            let over = used.saturating_sub(self.burst * self.window);
            return if over == 0 {
                Ok(Bucket { used, ..bucket })
            } else {
                Err(over.div_ceil(self.count))
            };
        }

        let (used, passed) = (bucket.used + cost, now - bucket.at);
        if used > self.count {
            let next = bucket.at + self.window - now;
            // In a sliding window, the amount taken here counts in the next window as well.
            let more = if self.strategy == RateLimitStrategy::SlidingWindow {
                self.until_light(bucket.used, self.count - cost)
            } else {
                0
            };
            return Err(next + more);
        }

        match self
            .until_light(bucket.before, self.count - used)
            .saturating_sub(passed)
        {
            0 => Ok(Bucket { used, ..bucket }),
            wait => Err(wait),
        }
    }

    /// Returns the part of a window that has to pass until the count of the previous window weighs
    /// no more than `room`.
    fn until_light(&self, before: u64, room: u64) -> u64 {
        if before <= room {
            0
        } else {
            // The quotient is rounded down and so the wait up: a client that has waited is not
            // refused again.
            self.window - room * self.window / before
        }
    }

    /// Returns the amount that an advanced bucket still allows.
    pub(in crate::rate_limit) fn remaining(&self, bucket: Bucket, now: u64) -> u64 {
        let now = now.max(bucket.at);
        if self.strategy == RateLimitStrategy::TokenBucket {
            return (self.burst * self.window).saturating_sub(bucket.used) / self.window;
        }

        // The weight is rounded up, so that the response never promises more than the limit admits.
        let weight = match bucket.before {
            0 => 0,
            before => (before * (self.window - (now - bucket.at))).div_ceil(self.window),
        };

        self.count.saturating_sub(bucket.used + weight)
    }

    /// Returns the state of an advanced bucket.
    pub(in crate::rate_limit) fn standing(
        &self,
        bucket: Bucket,
        now: u64,
        wait: Option<u64>,
    ) -> Standing {
        let reset = match self.strategy {
            RateLimitStrategy::TokenBucket => bucket.used.div_ceil(self.count),
            _ => bucket.at + self.window - now.max(bucket.at),
        };

        Standing {
            wait,
            remaining: self.remaining(bucket, now),
            reset,
            window: bucket.at,
            is_shared: false,
            is_in_redis: false,
        }
    }

    /// Tries to take an amount, and returns the bucket and its state afterwards.
    pub(in crate::rate_limit) fn taken(
        &self,
        bucket: Bucket,
        now: u64,
        amount: u64,
    ) -> (Bucket, Standing) {
        let bucket = self.advanced(bucket, now);
        match self.take(bucket, now, amount) {
            Ok(taken) => (taken, self.standing(taken, now, None)),
            Err(wait) => (bucket, self.standing(bucket, now, Some(wait))),
        }
    }

    /// Gives back to an advanced bucket an amount that was taken in the window starting at
    /// `window`.
    pub(in crate::rate_limit) fn given_back(
        &self,
        bucket: Bucket,
        window: u64,
        amount: u64,
    ) -> Bucket {
        let is_tokens = self.strategy == RateLimitStrategy::TokenBucket;
        if is_tokens {
            Bucket {
                used: bucket.used.saturating_sub(amount * self.window),
                ..bucket
            }
        } else if bucket.at == window {
            Bucket {
                used: bucket.used.saturating_sub(amount),
                ..bucket
            }
        } else if bucket.at == window + self.window {
            // The window of the amount is the previous one by now, and its count still weighs on
            // this one.
            Bucket {
                before: bucket.before.saturating_sub(amount),
                ..bucket
            }
        } else {
            bucket
        }
    }

    /// Returns the number of powers of two between the used amount and the maximum: 0 if about half
    /// of it or more is used.
    pub(in crate::rate_limit) fn slack(&self, bucket: Bucket) -> u8 {
        let most = match self.strategy {
            RateLimitStrategy::TokenBucket => self.burst.saturating_mul(self.window),
            _ => self.count,
        };

        let used = bucket.used.saturating_add(bucket.before);
        let powers = used
            .max(1)
            .leading_zeros()
            .saturating_sub(most.leading_zeros());

        u8::try_from(powers).unwrap_or(u8::MAX)
    }

    /// Whether at most one was taken, from a limit that allows several.
    pub(in crate::rate_limit) fn is_single(&self, bucket: Bucket) -> bool {
        let one = if self.strategy == RateLimitStrategy::TokenBucket {
            self.window
        } else {
            1
        };
        self.capacity() > 1 && bucket.used.saturating_add(bucket.before) <= one
    }

    /// Returns the time when the bucket ceases to have an effect.
    pub(in crate::rate_limit) fn forgotten_at(&self, bucket: Bucket) -> u64 {
        match self.strategy {
            RateLimitStrategy::TokenBucket => bucket.at + bucket.used.div_ceil(self.count),
            RateLimitStrategy::FixedWindow => bucket.at + self.window,
            // The count still weighs on the window after its own.
            RateLimitStrategy::SlidingWindow => bucket.at + 2 * self.window,
        }
    }
}
