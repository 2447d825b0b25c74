//! Limits: how many requests, or how much complexity, a window allows.

mod meter;
mod named;
mod number_value;
pub(super) mod rule;

use std::time::Duration;

pub(super) use meter::{Bucket, Meter, Standing};
pub(super) use named::{Found, NamedLimit};
pub(super) use number_value::number_value;
pub use rule::{RateLimitRule, create_default_rate_limit_rules};

use super::strategy::RateLimitStrategy;
use svc_core::ConfigError;

/// The maximum that a limit may allow: with it and the longest window, the arithmetic stays within
/// the integers that a double represents exactly, and Redis counts with doubles.
const MAX_COUNT: u64 = 50_000_000;
/// The longest window: a day, in seconds.
const MAX_WINDOW: u64 = 86_400;

/// The unit that a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    Requests,
    Complexity,
}

/// A limit on the number of requests, or on their complexity, in a window of time.
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
    /// In seconds.
    window: u64,
    burst: Option<u64>,
    strategy: Option<RateLimitStrategy>,
    unit: Unit,
}

impl RateLimit {
    /// Limits the number of requests, from 1 to 50,000,000, per minute unless another window is
    /// set.
    pub const fn requests(count: u64) -> Self {
        Self {
            count,
            window: 60,
            burst: None,
            strategy: None,
            unit: Unit::Requests,
        }
    }

    /// Limits the complexity, from 1 to 50,000,000, per minute unless another window is set.
    pub const fn cost(complexity: u64) -> Self {
        Self {
            unit: Unit::Complexity,
            ..Self::requests(complexity)
        }
    }

    /// Sets the window to a second.
    pub const fn per_second(self) -> Self {
        Self { window: 1, ..self }
    }

    /// Sets the window to a minute.
    pub const fn per_minute(self) -> Self {
        Self { window: 60, ..self }
    }

    /// Sets the window to an hour.
    pub const fn per_hour(self) -> Self {
        Self {
            window: 3_600,
            ..self
        }
    }

    /// Sets the window, in whole seconds, at most a day.
    pub const fn per(self, window: Duration) -> Self {
        Self {
            window: window.as_secs(),
            ..self
        }
    }

    /// Sets the strategy of counting. The default is that of the settings
    /// (`SVC_RATE_LIMIT_WINDOW_TYPE`).
    pub const fn strategy(self, strategy: RateLimitStrategy) -> Self {
        Self {
            strategy: Some(strategy),
            ..self
        }
    }

    /// Sets the size of the token bucket. The default is that of the settings
    /// (`SVC_RATE_LIMIT_BURST_SIZE`) for requests, and the whole budget for complexity.
    pub const fn burst(self, tokens: u64) -> Self {
        Self {
            burst: Some(tokens),
            ..self
        }
    }

    /// Returns the number of requests, or the complexity, that a window allows.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the window.
    pub const fn window(&self) -> Duration {
        Duration::from_secs(self.window)
    }

    /// Whether the limit is a token bucket whose size is that of the settings.
    pub(super) fn uses_burst_size(&self) -> bool {
        let is_bucket = self.strategy == Some(RateLimitStrategy::TokenBucket);
        is_bucket && self.burst.is_none() && self.unit == Unit::Requests
    }

    /// Checks the limit; errors refer to it as `name`.
    pub(super) fn check(&self, name: &str, unit: Unit) -> Result<(), ConfigError> {
        if self.unit != unit {
            let (given, wanted) = match unit {
                Unit::Requests => ("cost", "it must be RateLimit::requests(…)"),
                Unit::Complexity => ("requests", "it must be RateLimit::cost(…)"),
            };
            return Err(ConfigError::new(
                &format!("the rate limit of {name}"),
                given,
                wanted,
            ));
        }

        let number = |what: &str, value: u64, most: u64| match value {
            value if (1..=most).contains(&value) => Ok(()),
            value => Err(ConfigError::new(
                &format!("the rate limit of {name}"),
                value.to_string(),
                &format!("its {what} must be from 1 to {most}"),
            )),
        };

        number("count", self.count, MAX_COUNT)?;
        number("window in seconds", self.window, MAX_WINDOW)?;

        self.burst
            .map_or(Ok(()), |burst| number("burst", burst, MAX_COUNT))
    }

    /// Returns the meter of the limit; the settings provide the values that the limit does not set.
    pub(super) fn meter(&self, strategy: RateLimitStrategy, burst: u64) -> Meter {
        let whole = if self.unit == Unit::Complexity {
            self.count
        } else {
            burst
        };

        Meter {
            strategy: self.strategy.unwrap_or(strategy),
            count: self.count,
            window: self.window * 1_000,
            burst: self.burst.unwrap_or(whole),
        }
    }

    /// Returns the share of one instance among several.
    pub(super) fn shared_by(self, instances: u64) -> Self {
        // A share of zero would refuse every request.
        let share = |count: u64| (count / instances).max(1);
        Self {
            count: share(self.count),
            burst: self.burst.map(share),
            ..self
        }
    }
}
