//! The options of rate limits.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;

use super::limit::Unit;
use super::{RateLimit, RateLimitConfig, RateLimitRule};
use svc_core::ConfigError;
use svc_core::settings::{from_environment, is_set, tell_once, tell_unused, use_group};

/// The names of the limits by kind.
pub(super) const KINDS: [&str; 3] = ["query", "mutation", "subscription"];
/// The names of the limits by tier.
pub(super) const TIERS: [&str; 3] = ["low", "medium", "high"];

/// A request, as passed to the function of [`RateLimiting::key`].
#[derive(Debug)]
#[non_exhaustive]
pub struct RateLimitRequest<'a> {
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The path, normalized.
    pub path: &'a str,
    /// The address of the client, if available.
    pub address: Option<IpAddr>,
    /// The user, if the request is authenticated.
    #[cfg(feature = "auth")]
    pub user: Option<&'a svc_auth::UserContext>,
}

pub(super) type KeyFn = Arc<dyn Fn(&RateLimitRequest<'_>) -> Option<String> + Send + Sync>;
pub(super) type ClockFn = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The options of rate limits, for [`setup_rate_limiting`](crate::setup_rate_limiting).
///
/// ```
/// use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
///
/// let limiting = RateLimiting::from_env()?
///     .rule(RateLimitRule::new("/reports/*", RateLimit::requests(5).per_minute()))
///     .budget(RateLimit::cost(10_000).per_minute())
///     .key(|request| request.headers.get("x-tenant-id")?.to_str().ok().map(str::to_owned));
/// # drop(limiting);
/// # Ok::<(), svc::ConfigError>(())
/// ```
#[derive(Clone)]
#[must_use = "give the options to `setup_rate_limiting`"]
pub struct RateLimiting {
    pub(super) config: RateLimitConfig,
    pub(super) rules: Option<Vec<RateLimitRule>>,
    pub(super) default_limit: RateLimit,
    /// The limits of queries, mutations and subscriptions.
    pub(super) kinds: [RateLimit; 3],
    /// The limits of operations of low, medium and high complexity.
    pub(super) tiers: [RateLimit; 3],
    /// The complexity thresholds of medium and of high operations.
    pub(super) thresholds: [u64; 2],
    pub(super) budget: Option<RateLimit>,
    pub(super) key: Option<KeyFn>,
    pub(super) clock: Option<ClockFn>,
    #[cfg(feature = "redis")]
    pub(super) redis: Option<svc_core::RedisClient>,
}

impl Default for RateLimiting {
    fn default() -> Self {
        Self {
            config: RateLimitConfig::default(),
            rules: None,
            default_limit: RateLimit::requests(100),
            kinds: [100, 20, 10].map(RateLimit::requests),
            tiers: [200, 100, 20].map(RateLimit::requests),
            thresholds: [200, 2_000],
            budget: None,
            key: None,
            clock: None,
            #[cfg(feature = "redis")]
            redis: None,
        }
    }
}

impl RateLimiting {
    /// Creates options with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates options with the settings of the environment; see [`RateLimitConfig`].
    ///
    /// # Errors
    /// Returns a [`ConfigError`] with the name of the variable and its allowed values.
    pub fn from_env() -> Result<Self, ConfigError> {
        Ok(Self::default().config(from_environment()?))
    }

    /// Replaces the settings.
    pub fn config(self, config: RateLimitConfig) -> Self {
        Self { config, ..self }
    }

    /// Replaces all rules, also the defaults of
    /// [`create_default_rate_limit_rules`](super::create_default_rate_limit_rules).
    pub fn rules(self, rules: impl IntoIterator<Item = RateLimitRule>) -> Self {
        Self {
            rules: Some(rules.into_iter().collect()),
            ..self
        }
    }

    /// Adds a rule to the existing ones.
    pub fn rule(mut self, rule: RateLimitRule) -> Self {
        // The limits of GraphQL still come from the settings, unless this rule applies to it.
        self.rules
            .get_or_insert_with(super::limit::rule::rules_beside_graphql)
            .push(rule);
        self
    }

    /// Sets the limit of paths without a rule. Default 100 requests per minute.
    pub fn default_limit(self, limit: RateLimit) -> Self {
        Self {
            default_limit: limit,
            ..self
        }
    }

    /// Sets the limits of queries, mutations and subscriptions, which are counted separately.
    /// Default 100, 20 and 10 per minute.
    pub fn kinds(self, queries: RateLimit, mutations: RateLimit, subscriptions: RateLimit) -> Self {
        Self {
            kinds: [queries, mutations, subscriptions],
            ..self
        }
    }

    /// Sets the limits of operations of low, medium and high complexity, which are counted
    /// separately. Default 200, 100 and 20 per minute.
    pub fn tiers(self, low: RateLimit, medium: RateLimit, high: RateLimit) -> Self {
        Self {
            tiers: [low, medium, high],
            ..self
        }
    }

    /// Sets the complexity thresholds of medium and of high operations. Default 200 and 2,000.
    pub fn thresholds(self, medium: u64, high: u64) -> Self {
        Self {
            thresholds: [medium, high],
            ..self
        }
    }

    /// Sets a budget of complexity, [`RateLimit::cost`], in addition to the counts. An operation is
    /// admitted with the complexity of its document; the part that its response did not use is
    /// given back.
    pub fn budget(self, budget: RateLimit) -> Self {
        Self {
            budget: Some(budget),
            ..self
        }
    }

    /// Sets a function that identifies the client of a request, such as by its API key or its
    /// tenant. If it returns `None`, the client is the user, or else the address.
    ///
    /// A client that can choose its key freely evades all limits, so the key must have been
    /// verified.
    pub fn key(
        self,
        key: impl Fn(&RateLimitRequest<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            key: Some(Arc::new(key)),
            ..self
        }
    }

    /// Sets the clock, which returns the time since 1970. Counts in Redis use the clock of Redis.
    pub fn clock(self, now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self {
            clock: Some(Arc::new(now)),
            ..self
        }
    }

    /// Sets the Redis that counts for all instances. While it is unavailable, or takes longer than
    /// `SVC_RATE_LIMIT_REDIS_TIMEOUT`, each process counts by itself, with its share of the limits
    /// (`SVC_RATE_LIMIT_INSTANCES`).
    #[cfg(feature = "redis")]
    pub fn redis_client(self, redis_client: &svc_core::RedisClient) -> Self {
        Self {
            redis: Some(redis_client.clone()),
            ..self
        }
    }

    /// Records that requests are limited with these settings, and logs settings without effect.
    pub(super) fn note_use(&self) {
        for name in use_group(&self.config) {
            if tell_once(name) {
                tracing::info!(
                    "{name} is set but has no effect on rate limits: the program overrides it"
                );
            }
        }

        if !self.is_enabled() {
            return;
        }

        let tell = |names: &[&str], why: &str| {
            names
                .iter()
                .filter(|name| is_set(name))
                .for_each(|name| tell_unused(name, why));
        };

        if !self.is_shared() {
            let why =
                "rate limits are counted in memory; `RateLimiting::redis_client` shares the counts";
            tell(
                &["SVC_RATE_LIMIT_REDIS_TIMEOUT", "SVC_RATE_LIMIT_INSTANCES"],
                why,
            );
        }

        if self
            .rules
            .as_ref()
            .is_some_and(|rules| super::limit::rule::is_about_graphql(rules))
        {
            let why = "the program sets its own rule for /graphql";
            tell(
                &[
                    "SVC_RATE_LIMIT_REQUESTS_PER_MINUTE",
                    "SVC_RATE_LIMIT_REQUESTS_PER_HOUR",
                ],
                why,
            );
        }

        if !self.limits().any(RateLimit::uses_burst_size) {
            let why = "no limit is a token bucket (`RateLimitStrategy::TokenBucket`) without its own size";
            tell(&["SVC_RATE_LIMIT_BURST_SIZE"], why);
        }
    }

    /// Returns the limits that the program gives. The default rules and the limits of root fields
    /// are windows.
    fn limits(&self) -> impl Iterator<Item = &RateLimit> {
        let of_rules = self.rules.iter().flatten().flat_map(|rule| &rule.limits);
        of_rules
            .chain(&self.kinds)
            .chain(&self.tiers)
            .chain([&self.default_limit])
    }

    /// Whether proxies are trusted, so that their header is read.
    pub(crate) fn trusts_proxies(&self) -> bool {
        self.config.trusts_proxies()
    }

    #[cfg(feature = "redis")]
    fn is_shared(&self) -> bool {
        self.redis.is_some()
    }

    #[cfg(not(feature = "redis"))]
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether requests are limited.
    pub(super) fn is_enabled(&self) -> bool {
        self.config.enabled != Some(false)
    }

    /// Checks the limits.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for rule in self.rules.iter().flatten() {
            if !rule.path_pattern.starts_with(['/', '*']) {
                let name = "the path pattern of a rate limit";
                return Err(ConfigError::new(
                    name,
                    &rule.path_pattern,
                    "it must begin with / or *",
                ));
            }

            rule.limits.iter().try_for_each(|limit| {
                limit.check(&format!("`{}`", rule.path_pattern), Unit::Requests)
            })?;
        }

        self.default_limit.check("other paths", Unit::Requests)?;
        let kinds = self.kinds.iter().zip(KINDS);
        let tiers = self.tiers.iter().zip(TIERS);
        kinds
            .chain(tiers)
            .try_for_each(|(limit, name)| limit.check(name, Unit::Requests))?;

        if self.thresholds[0] > self.thresholds[1] {
            let [medium, high] = self.thresholds.map(|threshold| threshold.to_string());
            let allowed = format!("it must be at most that of high complexity, which is {high}");
            return Err(ConfigError::new(
                "the threshold of medium complexity",
                medium,
                &allowed,
            ));
        }

        self.budget.map_or(Ok(()), |budget| {
            budget.check("the budget", Unit::Complexity)
        })
    }
}

impl fmt::Debug for RateLimiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiting")
            .field("config", &self.config)
            .field("rules", &self.rules)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
