//! Limits with their names.

use std::sync::Arc;

use axum::http::HeaderValue;

use super::RateLimit;
use super::meter::{Meter, Standing};
use super::number_value::number_value;
use crate::rate_limit::RateLimitConfig;
use crate::rate_limit::client::CountKey;

/// A limit with its name.
#[derive(Debug)]
pub(in crate::rate_limit) struct NamedLimit {
    #[cfg_attr(
        not(feature = "redis"),
        expect(dead_code, reason = "its key stands for it in memory")
    )]
    pub(in crate::rate_limit) name: String,
    /// The hash of the name.
    pub(in crate::rate_limit) key: CountKey,
    /// The amount that a window allows.
    pub(in crate::rate_limit) count: u64,
    /// In seconds.
    pub(in crate::rate_limit) window: u64,
    /// The count and the window as header values.
    pub(in crate::rate_limit) values: LimitValues,
    pub(in crate::rate_limit) message: String,
    pub(in crate::rate_limit) meter: Meter,
    /// The numbers for this process alone if instances share the limit.
    #[cfg_attr(
        not(feature = "redis"),
        expect(dead_code, reason = "nothing is shared")
    )]
    pub(in crate::rate_limit) share: Meter,
}

/// The values of the headers that describe a limit.
#[derive(Debug)]
pub(in crate::rate_limit) struct LimitValues {
    pub(in crate::rate_limit) count: HeaderValue,
    pub(in crate::rate_limit) window: HeaderValue,
    /// The name in the draft's headers.
    pub(in crate::rate_limit) name: String,
    /// The complete entry in the draft's policy header.
    pub(in crate::rate_limit) policy: String,
}

/// A limit and its state for a request.
#[derive(Debug, Clone)]
pub(in crate::rate_limit) struct Found {
    pub(in crate::rate_limit) limit: Arc<NamedLimit>,
    pub(in crate::rate_limit) standing: Standing,
}

impl NamedLimit {
    /// Creates a limit; the settings provide the values that it does not set.
    pub(in crate::rate_limit) fn new(
        name: String,
        limit: RateLimit,
        message: &str,
        config: &RateLimitConfig,
    ) -> Arc<Self> {
        let (strategy, burst) = (config.window_type.strategy(), config.burst_size.into());
        let share = limit.shared_by(config.instances.max(1).into());
        let meters = [limit.meter(strategy, burst), share.meter(strategy, burst)];
        Arc::new(Self::of(name, message, limit.window().as_secs(), meters))
    }

    /// Creates a limit with a window in seconds, its own meter and the meter of the process's
    /// share.
    pub(in crate::rate_limit) fn of(
        name: String,
        message: &str,
        window: u64,
        [meter, share]: [Meter; 2],
    ) -> Self {
        Self {
            key: CountKey::of(&name),
            values: LimitValues::of(&name, meter.count, window),
            name,
            count: meter.count,
            window,
            message: message.to_owned(),
            meter,
            share,
        }
    }
}

impl LimitValues {
    fn of(name: &str, count: u64, window: u64) -> Self {
        let name = quoted(name);
        let policy = format!("{name};q={count};w={window}");
        Self {
            count: number_value(count),
            window: number_value(window),
            name,
            policy,
        }
    }
}

/// A name as a string of structured fields (RFC 9651), which are ASCII.
fn quoted(name: &str) -> String {
    let name: String = name
        .chars()
        .filter(|character| matches!(character, ' '..='~'))
        .collect();
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
