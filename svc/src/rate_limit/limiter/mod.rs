//! The limiter: identifies clients, finds their limits and decides whether requests pass.

mod operation_limits;

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::http::{Extensions, HeaderMap};

use self::operation_limits::OperationLimits;
pub(super) use self::operation_limits::of_root_fields;
use super::address_rule::AddressRule;
use super::client::{Client, ClientAddress, ClientList, KnownClient};
use super::limit::rule::{
    ENDPOINT, GRAPHQL, MESSAGE, PathPattern, RateLimitRule, is_about_graphql, normalized,
};
use super::limit::{Found, NamedLimit, Standing};
use super::rate_limiting::{ClockFn, KINDS, KeyFn, TIERS};
use super::store::{Amount, Counts, LocalCounts, MemoryStore, Standings, Takes, Waiting, is_taken};
use super::{
    RateLimit, RateLimitConfig, RateLimitRequest, RateLimiting, create_default_rate_limit_rules,
};
use svc_core::ConfigError;

/// The limits of the requests to some paths.
#[derive(Debug)]
pub(super) struct PathLimits {
    pattern: PathPattern,
    /// The path that most of these requests have.
    path: Arc<str>,
    pub(super) limits: Vec<Arc<NamedLimit>>,
}

/// The path of a request, normalized, with its limits.
#[derive(Debug, Clone)]
pub(super) struct RequestPath {
    /// `None` means the endpoint, which receives most requests.
    text: Option<Arc<str>>,
    /// The index of its limits.
    pub(super) limits: usize,
}

impl RequestPath {
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or(ENDPOINT)
    }
}

/// Whether a client is limited, according to the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Limited,
    /// On the whitelist.
    Free,
    /// On the blacklist.
    Refused,
}

/// Everything that limits requests.
pub(super) struct Limiter {
    pub(super) config: RateLimitConfig,
    addresses: AddressRule,
    /// The most specific first.
    paths: Vec<PathLimits>,
    others: PathLimits,
    /// The index of the endpoint's limits.
    endpoint: usize,
    pub(super) operations: OperationLimits,
    /// Whether there are lists of clients.
    has_lists: bool,
    key: Option<KeyFn>,
    clock: Clock,
    counts: Counts,
    waiting: Waiting,
}

impl Limiter {
    pub(super) fn new(limiting: RateLimiting) -> Result<Self, ConfigError> {
        limiting.check()?;
        let config = limiting.config;
        let named = |name: String, limit: RateLimit, message: &str| {
            NamedLimit::new(name, limit, message, &config)
        };

        let path_limits = |rule: RateLimitRule| {
            let limits = rule.limits.iter().enumerate();

            // Counts are stored by name, so the limits of a rule must not share one.
            let name = |index: usize| match index {
                0 => rule.path_pattern.clone(),
                index => format!("{};{index}", rule.path_pattern),
            };

            let limits = limits
                .map(|(index, limit)| named(name(index), *limit, &rule.message))
                .collect();
            let pattern = rule.pattern();

            PathLimits {
                path: pattern.literal().into(),
                pattern,
                limits,
            }
        };

        let mut rules = with_settings(limiting.rules, &config);

        // The sort is stable: of equally specific rules, the first one applies.
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.pattern().precedence()));
        let others = path_limits(RateLimitRule::new("*", limiting.default_limit));
        let operations = OperationLimits {
            kinds: operation_limits::named(KINDS, limiting.kinds, named),
            tiers: operation_limits::named(TIERS, limiting.tiers, named),
            thresholds: limiting.thresholds,
            budget: limiting
                .budget
                .map(|limit| named("complexity".to_owned(), limit, MESSAGE)),
        };

        let counts = Counts {
            memory: MemoryStore::new(usize::try_from(config.max_buckets).unwrap_or(usize::MAX)),
            #[cfg(feature = "redis")]
            shared: limiting
                .redis
                .map(|client| super::store::RedisStore::new(client, config.redis_timeout)),
        };

        let paths: Vec<_> = rules.into_iter().map(path_limits).collect();
        let clock = limiting.clock.map_or_else(Clock::system, Clock::Own);

        Ok(Self {
            endpoint: position(&paths, ENDPOINT),
            paths,
            others,
            operations,
            has_lists: !config.blacklist.is_empty() || !config.whitelist.is_empty(),
            key: limiting.key,
            clock,
            counts,
            waiting: Waiting::new(),
            addresses: AddressRule::of(&config),
            config,
        })
    }

    /// Returns the index of the limits of a normalized path; the index after the last means the
    /// default limits.
    fn position(&self, path: &str) -> usize {
        position(&self.paths, path)
    }

    /// Returns the limits at an index.
    pub(super) fn at(&self, position: usize) -> &PathLimits {
        self.paths.get(position).unwrap_or(&self.others)
    }

    /// Returns a request's path with its limits. Most paths need no allocation.
    pub(super) fn path(&self, path: &str) -> RequestPath {
        if path == ENDPOINT {
            return RequestPath {
                text: None,
                limits: self.endpoint,
            };
        }

        let path = normalized(path);
        let limits = self.position(&path);
        let known = &self.at(limits).path;

        RequestPath {
            text: Some(if **known == *path {
                known.clone()
            } else {
                path.into()
            }),
            limits,
        }
    }

    /// Returns the address of a request's client.
    pub(super) fn address(&self, headers: &HeaderMap, extensions: &Extensions) -> ClientAddress {
        self.addresses.address(headers, extensions)
    }

    /// Identifies the client of a request.
    pub(super) fn client(&self, request: &RateLimitRequest<'_>) -> KnownClient {
        self.named(request).into()
    }

    fn named(&self, request: &RateLimitRequest<'_>) -> Client {
        // A panic of the program's function must neither end the request nor exempt it.
        let named = self.key.as_ref().and_then(|key| {
            catch_unwind(AssertUnwindSafe(|| key(request))).unwrap_or_else(|panic| {
                svc_telemetry::panic::report(
                    "the function for keys of rate limits",
                    svc_telemetry::panic::message(&*panic),
                );
                None
            })
        });

        if let Some(key) = named {
            return Client::Own(key);
        }

        #[cfg(feature = "auth")]
        if let Some(user) = request.user {
            return Client::User(user.user_id.clone());
        }

        Client::at(request.address, self.config.ipv6_prefix)
    }

    /// Returns the access of a client, or of an address alone. The blacklist comes first. An
    /// address that no trusted proxy vouches for exempts no client, and cannot hide an address that
    /// is on the blacklist.
    pub(super) fn access(&self, address: &ClientAddress, client: Option<&KnownClient>) -> Access {
        let RateLimitConfig {
            blacklist,
            whitelist,
            ..
        } = &self.config;

        if !self.has_lists {
            return Access::Limited;
        }

        if is_listed(blacklist, address.all(), client) {
            Access::Refused
        } else if is_listed(whitelist, address.vouched(), client) {
            Access::Free
        } else {
            Access::Limited
        }
    }

    /// Takes from all limits of a request, which have distinct names, or from none if one of them
    /// requires a wait.
    pub(super) async fn take(&self, amounts: &[Amount<'_>], client: &KnownClient) -> Standings {
        self.counts
            .take(Takes { client, amounts }, self.now())
            .await
    }

    /// Returns the counts if reading them never waits, so that a request may be counted more than
    /// once while it is handled.
    pub(super) fn local(&self) -> Option<LocalCounts<'_>> {
        self.counts.local()
    }

    /// Returns a limit of a path that a client still has to wait for, if one is remembered. Does
    /// not count anything.
    pub(super) fn known_wait(&self, path: usize, client: &KnownClient) -> Option<Found> {
        let now = self.now();
        self.at(path)
            .limits
            .iter()
            .find_map(|limit| self.waiting.find(limit, client, now))
    }

    /// Remembers how long a client has to wait for a path according to Redis, and returns whether
    /// it has to wait. Waits that this process has counted by itself are not remembered: Redis may
    /// admit the client as soon as it is available again.
    pub(super) fn remember_wait(&self, path: usize, client: &KnownClient, found: &[Found]) -> bool {
        let (limits, now) = (&self.at(path).limits, self.now());
        let is_of_path =
            |found: &&Found| limits.iter().any(|limit| Arc::ptr_eq(limit, &found.limit));
        let mut waits = false;

        for found in found
            .iter()
            .filter(is_of_path)
            .filter(|found| found.standing.wait.is_some())
        {
            if found.standing.is_in_redis {
                self.waiting.remember(found, client, now);
            }
            waits = true;
        }

        waits
    }

    /// Gives back a part of the amount that was taken when the limit had the state `taken`.
    pub(super) fn give_back(
        self: &Arc<Self>,
        limit: Arc<NamedLimit>,
        client: KnownClient,
        amount: u64,
        taken: Standing,
    ) {
        let limiter = self.clone();
        self.behind_the_answer(async move {
            let takes = Takes {
                client: &client,
                amounts: &[(&limit, amount)],
            };
            limiter.counts.give_back(takes, taken, limiter.now()).await;
        });
    }

    /// Counts a request for its path whose client no longer waits.
    pub(super) fn count_path(self: &Arc<Self>, path: usize, client: KnownClient) {
        let limiter = self.clone();
        self.behind_the_answer(async move {
            let limits: Vec<_> = limiter
                .at(path)
                .limits
                .iter()
                .map(|limit| (limit, 1))
                .collect();

            let standings = limiter.take(&limits, &client).await;
            if !is_taken(&standings) {
                let found = limits.iter().zip(standings);
                let found: Vec<_> = found
                    .map(|((limit, _), standing)| Found {
                        limit: Arc::clone(limit),
                        standing,
                    })
                    .collect();
                limiter.remember_wait(path, &client, &found);
            }
        });
    }

    /// Runs the counting now if it never waits, and else as a background task.
    fn behind_the_answer(&self, counting: impl Future<Output = ()> + Send + 'static) {
        if self.counts.local().is_some() {
            futures_util::FutureExt::now_or_never(counting);
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // Without a runtime, as for a request that is dropped during shutdown, the count is
            // lost.
            runtime.spawn(counting);
        }
    }

    /// Returns the time in milliseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        match &self.clock {
            Clock::System { start, began } => start + millis(began.elapsed()),
            Clock::Own(clock) => millis(clock()),
        }
    }
}

fn position(paths: &[PathLimits], path: &str) -> usize {
    paths
        .iter()
        .position(|limits| limits.pattern.matches(path))
        .unwrap_or(paths.len())
}

/// Whether a list contains one of the addresses, or the client's key.
fn is_listed(
    list: &ClientList,
    addresses: impl IntoIterator<Item = IpAddr>,
    client: Option<&KnownClient>,
) -> bool {
    // The key of a client is formatted only for lists that have keys, as that allocates.
    let has_key =
        || list.has_keys() && client.is_some_and(|client| list.has_key(&client.to_string()));
    !list.is_empty()
        && (addresses
            .into_iter()
            .any(|address| list.has_address(address))
            || has_key())
}

/// Returns the rules, with the rules for GraphQL from the settings if the program has none.
fn with_settings(
    rules: Option<Vec<RateLimitRule>>,
    config: &RateLimitConfig,
) -> Vec<RateLimitRule> {
    let own = rules.as_ref().is_some_and(|rules| is_about_graphql(rules));
    let mut rules = rules.unwrap_or_else(create_default_rate_limit_rules);
    if !own {
        rules.retain(|rule| rule.path_pattern != GRAPHQL);
        let by_minute = RateLimit::requests(config.requests_per_minute.into()).per_minute();
        let by_hour = RateLimit::requests(config.requests_per_hour.into()).per_hour();
        rules.push(RateLimitRule::new(GRAPHQL, by_minute).and(by_hour));
    }

    rules
}

/// The clock of a limiter.
enum Clock {
    /// The system's time at the start in milliseconds, and the start as an instant: this clock
    /// never goes back.
    System { start: u64, began: Instant },
    /// The program's clock.
    Own(ClockFn),
}

impl Clock {
    fn system() -> Self {
        let start = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Self::System {
            start: millis(start),
            began: Instant::now(),
        }
    }
}

fn millis(time: Duration) -> u64 {
    // Sums of such times must not overflow.
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX / 4)
}

/// Omits the counts.
impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limiter")
            .field("config", &self.config)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}
