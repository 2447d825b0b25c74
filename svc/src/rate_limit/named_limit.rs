//! Limits under their names.

use std::sync::Arc;

use axum::http::HeaderValue;

use super::count_key::CountKey;
use super::meter::{Meter, Standing};
use super::number_value::number_value;
use super::{RateLimit, RateLimitConfig};

/// A limit under its name.
#[derive(Debug)]
pub(super) struct NamedLimit {
    #[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "its key stands for it in memory"))]
    pub(super) name: String,
    /// The key of the name.
    pub(super) key: CountKey,
    /// The number that a window allows.
    pub(super) count: u64,
    /// Seconds.
    pub(super) window: u64,
    /// Both as values of headers.
    pub(super) values: LimitValues,
    pub(super) message: String,
    pub(super) meter: Meter,
    /// The numbers for this process alone, where instances share the limit.
    #[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "nothing is shared"))]
    pub(super) share: Meter,
}

/// The values of the headers that tell of a limit itself.
#[derive(Debug)]
pub(super) struct LimitValues {
    pub(super) count: HeaderValue,
    pub(super) window: HeaderValue,
    /// Its name in the draft's headers.
    pub(super) name: String,
    /// The whole of it in the draft's header of policies.
    pub(super) policy: String,
}

/// A limit, and what a request found of it.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) limit: Arc<NamedLimit>,
    pub(super) standing: Standing,
}

impl NamedLimit {
    /// A limit that the settings complete.
    pub(super) fn new(name: String, limit: RateLimit, message: &str, config: &RateLimitConfig) -> Arc<Self> {
        let (strategy, burst) = (config.window_type.strategy(), config.burst_size.into());
        let share = limit.shared_by(config.instances.max(1).into());
        let meters = [limit.meter(strategy, burst), share.meter(strategy, burst)];
        Arc::new(Self::of(name, message, limit.window().as_secs(), meters))
    }

    /// A limit with a window of seconds, whose meters are its own and that of the process's share.
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
        Self { count: number_value(count), window: number_value(window), name, policy }
    }
}

/// A name as a string of structured fields (RFC 9651), which are ASCII.
fn quoted(name: &str) -> String {
    let name: String = name.chars().filter(|character| matches!(character, ' '..='~')).collect();
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
