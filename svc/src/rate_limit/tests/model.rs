//! Each strategy against a simple model: a list of amounts and their times, evaluated as a whole
//! each time.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::{WHOLE, limit, take, user};
use crate::rate_limit::RateLimitStrategy::{self, FixedWindow, SlidingWindow, TokenBucket};
use crate::rate_limit::limit::Meter;
use crate::rate_limit::store::{MemoryStore, Takes};

/// All amounts ever taken, with their times.
#[derive(Default)]
struct Model(Vec<(u64, u64)>);

impl Model {
    fn in_window(&self, meter: Meter, window: u64) -> u64 {
        self.0
            .iter()
            .filter(|(at, _)| at / meter.window == window)
            .map(|(_, amount)| amount)
            .sum()
    }

    /// The level of a bucket, in tokens times the window: initially full, refilled between the
    /// takes.
    fn level(&self, meter: Meter, now: u64) -> u128 {
        let full = u128::from(meter.burst) * u128::from(meter.window);
        let (mut level, mut last) = (full, 0);
        for (at, amount) in self.0.iter().chain(&[(now, 0)]) {
            level = full.min(level + u128::from(at - last) * u128::from(meter.count));
            level -= u128::from(*amount) * u128::from(meter.window);
            last = *at;
        }
        level
    }

    fn allows(&self, meter: Meter, now: u64, amount: u64) -> bool {
        let window = now / meter.window;
        match meter.strategy {
            FixedWindow => self.in_window(meter, window) + amount <= meter.count,
            SlidingWindow => {
                let before = window
                    .checked_sub(1)
                    .map_or(0, |before| self.in_window(meter, before));
                let left = meter.window - now % meter.window;
                // The part of the previous window that the last `window` milliseconds cover.
                let weighed =
                    before * left + (self.in_window(meter, window) + amount) * meter.window;
                weighed <= meter.count * meter.window
            }
            TokenBucket => self.level(meter, now) >= u128::from(amount) * u128::from(meter.window),
        }
    }

    /// Forgets entries without weight: those older than two windows, and all entries once the
    /// bucket is full.
    fn forget(&mut self, meter: Meter, now: u64) {
        if meter.strategy != TokenBucket {
            self.0.retain(|(at, _)| at + 2 * meter.window > now);
        } else if self.level(meter, now) == u128::from(meter.burst) * u128::from(meter.window) {
            self.0.clear();
        }
    }
}

fn agrees(strategy: RateLimitStrategy, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let store = MemoryStore::new(100_000);
    let (mut model, mut now, mut number) = (Model::default(), 0, 0);
    let mut meter = Meter {
        strategy,
        count: 5,
        window: 1_000,
        burst: 7,
    };

    let (mut passed, mut refused) = (0, 0);
    for step in 0..100_000 {
        if step % 500 == 0 {
            let (count, burst) = (random.random_range(1..=12), random.random_range(1..=12));
            meter = Meter {
                strategy,
                count,
                window: random.random_range(1..=40) * 25,
                burst,
            };
            (model, number) = (Model::default(), number + 1);
        }

        // Sometimes to the edge of a window, or to the moment before.
        now = match random.random_range(0..10) {
            0 => (now / meter.window + 1) * meter.window,
            1 => ((now / meter.window + 1) * meter.window - 1).max(now),
            _ => now + random.random_range(0..=meter.window / meter.count),
        };

        let amount = if random.random_bool(0.1) {
            random.random_range(1..=14)
        } else {
            1
        };

        let (client, allowed) = (user(number), model.allows(meter, now, amount));
        let standing = take(&store, meter, &client, amount, now);
        assert_eq!(
            standing.wait.is_none(),
            allowed,
            "step {step} at {now}: {meter:?}, {amount}, {standing:?}"
        );

        if allowed {
            model.0.push((now, amount));
            passed += 1;
        } else {
            refused += 1;
        }

        let left = standing.remaining;
        assert!(
            left == 0 || model.allows(meter, now, left),
            "step {step}: {standing:?}"
        );
        assert!(
            !model.allows(meter, now, left + 1),
            "step {step}: {standing:?}"
        );

        if let Some(wait) = standing.wait.filter(|_| amount <= meter.capacity()) {
            assert!(
                model.allows(meter, now + wait, amount),
                "step {step}: {standing:?} is too short"
            );
            assert!(
                !model.allows(meter, now + wait - 1, amount),
                "step {step}: {standing:?} is too long"
            );
        }

        model.forget(meter, now);
    }

    assert!(
        passed > 20_000 && refused > 20_000,
        "{passed} passed, {refused} were refused"
    );
}

#[test]
fn a_fixed_window_is_its_model() {
    agrees(FixedWindow, 1);
}

#[test]
fn a_sliding_window_is_its_model() {
    agrees(SlidingWindow, 2);
}

#[test]
fn a_token_bucket_is_its_model() {
    agrees(TokenBucket, 3);
}

/// The largest limits that are allowed, at a time in the far future.
#[test]
fn the_largest_numbers_fit() {
    let (most, day, now) = (50_000_000, 86_400_000, 4_102_444_800_123);
    for strategy in [FixedWindow, SlidingWindow, TokenBucket] {
        let meter = Meter {
            strategy,
            count: most,
            window: day,
            burst: most,
        };

        let store = MemoryStore::new(10);
        let allowed = |amount, now| take(&store, meter, &user(1), amount, now);
        assert_eq!(allowed(u64::MAX, now).wait, Some(day), "{strategy:?}");
        assert_eq!(allowed(most, now).remaining, 0, "{strategy:?}");
        assert!(allowed(1, now).wait.is_some(), "{strategy:?}");

        assert_eq!(allowed(most, now + 2 * day).wait, None, "{strategy:?}");
    }
}

/// A clock that is behind neither refills a limit nor fails.
#[test]
fn an_older_clock_refills_nothing() {
    for strategy in [FixedWindow, SlidingWindow, TokenBucket] {
        let meter = Meter {
            strategy,
            count: 3,
            window: 60_000,
            burst: 3,
        };

        let store = MemoryStore::new(10);
        let allowed = |now| take(&store, meter, &user(1), 1, now).wait.is_none();
        let now = 1_000_000_020_000;

        assert!(
            (0..3).all(|_| allowed(now)) && !allowed(now),
            "{strategy:?}"
        );

        assert!(
            [1, 2_000, 59_999, 60_000, 600_000, now]
                .iter()
                .all(|behind| !allowed(now - behind)),
            "{strategy:?}"
        );
    }
}

/// An amount that is given back can be taken again, once, and only in the same window.
#[test]
fn a_refunded_amount_can_be_taken_again() {
    for strategy in [FixedWindow, SlidingWindow, TokenBucket] {
        let meter = Meter {
            strategy,
            count: 100,
            window: 60_000,
            burst: 100,
        };

        let (store, now) = (MemoryStore::new(10), 1_000_000_020_000);
        let taken = |amount, now| take(&store, meter, &user(1), amount, now);
        let standing = taken(100, now);
        let (limit, client) = (limit("limit", meter), user(1));
        let unused = Takes {
            client: &client,
            amounts: &[(&limit, 97)],
        };

        store.give_back(unused, WHOLE, standing, now);
        assert!(taken(98, now).wait.is_some(), "{strategy:?}");
        assert_eq!(taken(97, now).wait, None, "{strategy:?}");
        let later = now + 120_000;
        assert_eq!(taken(100, later).wait, None, "{strategy:?}");
        store.give_back(unused, WHOLE, standing, later);
        let refused = taken(98, later).wait.is_some();

        assert!(refused, "{strategy:?}");
    }
}
