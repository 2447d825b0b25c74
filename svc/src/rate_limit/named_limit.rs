//! Limits with their names.

use std::sync::Arc;

use axum::http::HeaderValue;

use super::count_key::CountKey;
use super::meter::{Meter, Standing};
use super::number_value::number_value;
use super::{RateLimit, RateLimitConfig};

/// A limit with its name.
#[derive(Debug)]
pub(super) struct NamedLimit {
    #[cfg_attr(
        not(feature = "redis"),
        expect(dead_code, reason = "its key stands for it in memory")
    )]
    pub(super) name: String,
    /// The hash of the name.
    pub(super) key: CountKey,
    /// The amount that a window allows.
    pub(super) count: u64,
    /// In seconds.
    pub(super) window: u64,
    /// The count and the window as header values.
    pub(super) values: LimitValues,
    pub(super) message: String,
    pub(super) meter: Meter,
    /// The numbers for this process alone if instances share the limit.
    #[cfg_attr(
        not(feature = "redis"),
        expect(dead_code, reason = "nothing is shared")
    )]
    pub(super) share: Meter,
}

/// The values of the headers that describe a limit.
#[derive(Debug)]
pub(super) struct LimitValues {
    pub(super) count: HeaderValue,
    pub(super) window: HeaderValue,
    /// The name in the draft's headers.
    pub(super) name: String,
    /// The complete entry in the draft's policy header.
    pub(super) policy: String,
}

/// A limit and its state for a request.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) limit: Arc<NamedLimit>,
    pub(super) standing: Standing,
}

impl NamedLimit {
    /// Creates a limit; the settings provide the values that it does not set.
    pub(super) fn new(
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
    pub(super) fn of(name: String, message: &str, window: u64, [meter, share]: [Meter; 2]) -> Self {
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
