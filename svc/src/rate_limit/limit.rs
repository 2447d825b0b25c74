//! Limits: how many requests, or how much complexity, in how long a time.

use std::time::Duration;

use super::meter::Meter;
use super::strategy::RateLimitStrategy;
use crate::ConfigError;

/// The most that a limit may allow: with it, and the longest window, the arithmetic stays within the whole numbers that
/// a double holds, which is what Redis counts with.
const MOST: u64 = 50_000_000;
/// The longest window: a day.
const LONGEST: u64 = 86_400;

/// The unit that a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    Requests,
    Complexity,
}

/// A limit: so many requests, or so much complexity, in a window of time.
///
/// ```
/// use svc::rate_limit::{RateLimit, RateLimitStrategy};
///
/// let limit = RateLimit::requests(100).per_minute().strategy(RateLimitStrategy::TokenBucket).burst(20);
/// assert_eq!((limit.count(), limit.window().as_secs()), (100, 60));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a limit does nothing by itself"]
pub struct RateLimit {
    count: u64,
    /// Seconds.
    window: u64,
    burst: Option<u64>,
    strategy: Option<RateLimitStrategy>,
    unit: Unit,
}

impl RateLimit {
    /// A limit of so many requests, from 1 to 50,000,000, in a minute unless another time is given.
    pub const fn requests(count: u64) -> Self {
        Self { count, window: 60, burst: None, strategy: None, unit: Unit::Requests }
    }

    /// A budget of so much complexity, from 1 to 50,000,000, in a minute unless another time is given.
    pub const fn cost(complexity: u64) -> Self {
        Self { unit: Unit::Complexity, ..Self::requests(complexity) }
    }

    /// The same in a second.
    pub const fn per_second(self) -> Self {
        Self { window: 1, ..self }
    }

    /// The same in a minute.
    pub const fn per_minute(self) -> Self {
        Self { window: 60, ..self }
    }

    /// The same in an hour.
    pub const fn per_hour(self) -> Self {
        Self { window: 3_600, ..self }
    }

    /// The same in a window of whole seconds, at most a day.
    pub const fn per(self, window: Duration) -> Self {
        Self { window: window.as_secs(), ..self }
    }

    /// The same with another way of counting. Without one, that of the settings counts (`SVC_RATE_LIMIT_WINDOW_TYPE`).
    pub const fn strategy(self, strategy: RateLimitStrategy) -> Self {
        Self { strategy: Some(strategy), ..self }
    }

    /// The same with a token bucket of this size. Without one, the size is that of the settings
    /// (`SVC_RATE_LIMIT_BURST_SIZE`) for requests, and the whole budget for complexity.
    pub const fn burst(self, tokens: u64) -> Self {
        Self { burst: Some(tokens), ..self }
    }

    /// The number of requests, or the complexity, that a window allows.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The window.
    pub const fn window(&self) -> Duration {
        Duration::from_secs(self.window)
    }

    /// Checks the limit, which errors name `name`.
    pub(super) fn check(&self, name: &str, unit: Unit) -> Result<(), ConfigError> {
        if self.unit != unit {
            let (given, wanted) = match unit {
                Unit::Requests => ("cost", "it must be RateLimit::requests(…)"),
                Unit::Complexity => ("requests", "it must be RateLimit::cost(…)"),
            };
            return Err(ConfigError::new(&format!("the rate limit of {name}"), given, wanted));
        }
        let number = |what: &str, value: u64, most: u64| match value {
            value if (1..=most).contains(&value) => Ok(()),
            value => Err(ConfigError::new(
                &format!("the rate limit of {name}"),
                value.to_string(),
                &format!("its {what} must be from 1 to {most}"),
            )),
        };
        number("count", self.count, MOST)?;
        number("window in seconds", self.window, LONGEST)?;
        self.burst.map_or(Ok(()), |burst| number("burst", burst, MOST))
    }

    /// The meter of the limit, where the settings say what it leaves open.
    pub(super) fn meter(&self, strategy: RateLimitStrategy, burst: u64) -> Meter {
        let whole = if self.unit == Unit::Complexity { self.count } else { burst };
        Meter {
            strategy: self.strategy.unwrap_or(strategy),
            count: self.count,
            window: self.window * 1_000,
            burst: self.burst.unwrap_or(whole),
        }
    }

    /// The same for a part of the service: an instance among several.
    pub(super) fn shared_by(self, instances: u64) -> Self {
        let share = |count: u64| (count / instances).max(1);
        Self { count: share(self.count), burst: self.burst.map(share), ..self }
    }
}
