//! The settings of rate limits.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::client::{Clients as ClientKind, client_address};
use super::{ClientList, ForwardedHeader, RateLimitStrategy, TrustedProxies};
use svc_core::settings::{Count, Flag, Maybe, Milliseconds, Parsed, Whether, settings};
use svc_telemetry::security_log::Clients;

/// The kind of windows that the settings can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WindowType {
    /// [`RateLimitStrategy::SlidingWindow`].
    #[default]
    Sliding,
    /// [`RateLimitStrategy::FixedWindow`].
    Fixed,
}

impl WindowType {
    pub(super) fn strategy(self) -> RateLimitStrategy {
        match self {
            Self::Sliding => RateLimitStrategy::SlidingWindow,
            Self::Fixed => RateLimitStrategy::FixedWindow,
        }
    }
}

impl FromStr for WindowType {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.to_ascii_lowercase().as_str() {
            "sliding" => Ok(Self::Sliding),
            "fixed" => Ok(Self::Fixed),
            _ => Err(()),
        }
    }
}

impl fmt::Display for WindowType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Sliding {
            "sliding"
        } else {
            "fixed"
        })
    }
}

settings! {
    /// The settings of rate limits, which apply once
    /// [`setup_rate_limiting`](crate::setup_rate_limiting) is called; the field `rate_limit` of
    /// [`SvcConfig`](crate::SvcConfig).
    pub struct RateLimitConfig {
        /// Enables rate limits.
        enabled: Option<bool> = None, ["SVC_RATE_LIMIT_ENABLED"], Whether("true");
        /// Maximum number of requests to `/graphql` per client and minute, unless the program sets
        /// its own rule for that path.
        requests_per_minute: u32 = 60, ["SVC_RATE_LIMIT_REQUESTS_PER_MINUTE"], Count(1..=50_000_000, "requests");
        /// Maximum number of requests to `/graphql` per client and hour, unless the program sets
        /// its own rule for that path.
        requests_per_hour: u32 = 1_000, ["SVC_RATE_LIMIT_REQUESTS_PER_HOUR"], Count(1..=50_000_000, "requests");
        /// Size of token buckets whose limit does not set one.
        burst_size: u32 = 10, ["SVC_RATE_LIMIT_BURST_SIZE"], Count(1..=50_000_000, "tokens");
        /// Type of window for limits that do not set a strategy.
        window_type: WindowType = WindowType::Sliding, ["SVC_RATE_LIMIT_WINDOW_TYPE"], Parsed("sliding or fixed");
        /// Clients that are never limited.
        whitelist: ClientList = ClientList::default(), ["SVC_RATE_LIMIT_WHITELIST"], ClientKind;
        /// Clients that are always rejected, with 403.
        blacklist: ClientList = ClientList::default(), ["SVC_RATE_LIMIT_BLACKLIST"], ClientKind;
        /// Proxies that are trusted to report the addresses of their clients. If unset, every
        /// client can claim any address, in `X-Forwarded-For` or `X-Real-IP`.
        trusted_proxies: Option<TrustedProxies> = None, ["SVC_TRUSTED_PROXIES"],
            Maybe(Parsed("addresses and networks, separated by commas or as a JSON list, or the word none"));
        /// Header with the client addresses that trusted proxies report.
        forwarded_header: ForwardedHeader = ForwardedHeader::XForwardedFor, ["SVC_FORWARDED_HEADER"],
            Parsed("x-forwarded-for, x-real-ip or forwarded");
        /// Length of the prefix of an IPv6 address that identifies a client, in bits.
        ipv6_prefix: u8 = 64, ["SVC_RATE_LIMIT_IPV6_PREFIX"], Count(16..=128, "bits");
        /// Adds the headers `RateLimit` and `RateLimit-Policy` of the IETF draft to responses.
        standard_headers: bool = false, ["SVC_RATE_LIMIT_STANDARD_HEADERS"], Flag;
        /// Maximum number of counts in memory, of about 150 bytes each. Once they are used up, new
        /// clients share one count.
        max_buckets: u32 = 100_000, ["SVC_RATE_LIMIT_MAX_BUCKETS"], Count(1_000..=50_000_000, "counts");
        /// Number of instances that the limits are divided by while Redis is unavailable.
        instances: u32 = 1, ["SVC_RATE_LIMIT_INSTANCES"], Count(1..=10_000, "instances");
        /// Maximum time that a request waits for Redis.
        redis_timeout: Duration = Duration::from_millis(50), ["SVC_RATE_LIMIT_REDIS_TIMEOUT"],
            Milliseconds(1..=1_000);
    }
}

impl RateLimitConfig {
    /// Whether proxies are trusted, so that their header is read.
    pub(crate) fn trusts_proxies(&self) -> bool {
        self.trusted_proxies
            .as_ref()
            .is_some_and(|proxies| !proxies.is_empty())
    }

    /// The clients, as security events name them: a header only counts behind trusted proxies.
    pub(crate) fn clients(&self) -> Clients {
        let (proxies, named_in) = (self.trusted_proxies.clone(), self.forwarded_header);
        match proxies {
            Some(proxies) => Clients::behind(move |headers, peer| {
                client_address(headers, peer, Some(&proxies), named_in).counted
            }),
            None => Clients::default(),
        }
    }
}
