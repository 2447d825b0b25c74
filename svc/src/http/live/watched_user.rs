//! The times at which the user of a connection is checked, or too old.

use std::time::{Duration, Instant};

/// The watch over the user of a connection.
#[derive(Debug)]
pub(super) struct WatchedUser {
    /// The next check, and the interval between two checks.
    pub(super) check: Option<(Instant, Duration)>,
    /// The end of the connection, whose user a layer has identified.
    pub(super) ends: Option<Instant>,
}

impl WatchedUser {
    /// Returns the watch; `None` if there is nothing to do.
    pub(super) fn new(
        interval: Option<Duration>,
        max_age: Option<Duration>,
        now: Instant,
    ) -> Option<Self> {
        let check = interval.and_then(|interval| Some((now.checked_add(interval)?, interval)));
        let ends = max_age.and_then(|max_age| now.checked_add(max_age));
        (check.is_some() || ends.is_some()).then_some(Self { check, ends })
    }

    /// Returns the time of a connection: from three quarters of the longest one up to all of it,
    /// evenly over the keys, because connections opened together must neither be checked nor end
    /// together.
    pub(super) fn spread(longest: Duration, key: usize) -> Duration {
        // Multiples of the golden ratio, modulo 1, are evenly distributed (Fibonacci hashing).
        let turn = (key as u32).wrapping_mul(0x9E37_79B9);
        let part = f64::from(turn) / f64::from(u32::MAX);

        longest - (longest / 4).mul_f64(part)
    }

    /// Brings the next check forward to a time.
    pub(super) fn check_at(&mut self, time: Instant) {
        if let Some((next, _)) = &mut self.check {
            *next = time.min(*next);
        }
    }

    /// Whether it is time for a check; the next one is an interval later.
    pub(super) fn take_check(&mut self, now: Instant) -> bool {
        let Some((next, interval)) = &mut self.check else {
            return false;
        };

        let is_due = now >= *next;
        if is_due {
            *next = now.checked_add(*interval).unwrap_or(now);
        }

        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_many_connections_are_spread() {
        let longest = Duration::from_secs(60);
        let mut slots = [0; 15];
        for key in 0..10_000 {
            let interval = WatchedUser::spread(longest, key);
            assert!(interval <= longest, "{interval:?}");
            slots[usize::try_from(interval.as_secs() - 45).unwrap().min(14)] += 1;
        }

        assert!(slots.iter().all(|count| *count < 1_000), "{slots:?}");
    }
}
