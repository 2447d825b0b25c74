//! A short-lived cache of decisions.

mod decision_key;
mod kept_decisions;

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::authorizer::{Deciding, Decisions};
use super::{
    AccessCheck, AuthorizationDecision, AuthorizationRequest, DynAuthorizer, OperationType,
};
use crate::request::Context;
use decision_key::DecisionKey;
use kept_decisions::KeptDecisions;
use svc_core::{Error, Result};
use svc_telemetry::metrics::CacheType;

type PrincipalKey = Box<dyn Fn(&Context<'_>) -> Option<String> + Send + Sync>;
type Clock = Box<dyn Fn() -> Instant + Send + Sync>;

/// The settings of the decision cache; passed to `AppOptions::authorization_cache`.
///
/// A decision is cached by the principal key, the operation's kind and name, and the arguments. The
/// authorizer must therefore decide by these alone; any other data it reads may be briefly out of
/// date. Decisions without a principal, and failures of the authorizer, are never cached.
///
/// ```
/// use std::time::Duration;
///
/// use svc::authz::AuthorizationCacheConfig;
/// use svc::prelude::*;
///
/// let cache = AuthorizationCacheConfig::new(|ctx| ctx.header("x-user").map(str::to_owned))
///     .ttl(Duration::from_secs(2))
///     .max_entries(1_000);
/// let options = AppOptions::new()
///     .authorizer(async |request: AuthorizationRequest| request.operation_name() != "secrets")
///     .authorization_cache(cache);
/// ```
pub struct AuthorizationCacheConfig {
    principal_key: PrincipalKey,
    ttl: Duration,
    max_entries: usize,
    clock: Clock,
}

impl AuthorizationCacheConfig {
    /// A cache of at most 10,000 decisions, each kept for five seconds. `principal_key` returns the
    /// key of the requester, which must be unique for each principal; with `None`, decisions are
    /// not cached.
    pub fn new(
        principal_key: impl Fn(&Context<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            principal_key: Box::new(principal_key),
            ttl: Duration::from_secs(5),
            max_entries: 10_000,
            clock: Box::new(Instant::now),
        }
    }

    /// Sets how long a decision is cached. Nothing invalidates it earlier, so keep this short.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets the maximum number of cached decisions; the least recently used one is evicted.
    /// Together they take at most 16 MiB.
    #[must_use]
    pub fn max_entries(mut self, max_entries: usize) -> Self {
        self.max_entries = max_entries;
        self
    }

    /// Sets the clock that expires decisions, for tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }
}

impl fmt::Debug for AuthorizationCacheConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationCacheConfig")
            .field("ttl", &self.ttl)
            .field("max_entries", &self.max_entries)
            .finish_non_exhaustive()
    }
}

/// An authorizer with cached decisions.
pub struct CachedAuthorizer {
    authorizer: Box<dyn DynAuthorizer>,
    config: AuthorizationCacheConfig,
    kept: Mutex<KeptDecisions>,
    /// The decisions in progress; later requests for the same decision wait for the first one.
    asked: Mutex<HashMap<DecisionKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl CachedAuthorizer {
    pub fn new(authorizer: Box<dyn DynAuthorizer>, config: AuthorizationCacheConfig) -> Self {
        let most = NonZeroUsize::new(config.max_entries).unwrap_or(NonZeroUsize::MIN);
        Self {
            authorizer,
            config,
            kept: Mutex::new(KeptDecisions::new(most)),
            asked: Mutex::default(),
        }
    }

    /// The principal key; `None` if no decision is cached.
    fn principal(&self, context: &Context<'_>) -> Option<String> {
        let keeps = self.config.max_entries > 0 && !self.config.ttl.is_zero();
        keeps
            .then(|| (self.config.principal_key)(context))
            .flatten()
    }

    fn key(&self, request: &AuthorizationRequest) -> Option<DecisionKey> {
        let principal = self.principal(&request.context())?;
        Some(DecisionKey::new(
            &principal,
            request.operation_type,
            &request.operation_name,
            request.arguments.iter(),
        ))
    }

    fn find(&self, key: &DecisionKey) -> Option<AuthorizationDecision> {
        let now = (self.config.clock)();
        lock(&self.kept).find(key, now)
    }

    fn keep(&self, key: DecisionKey, decision: AuthorizationDecision) {
        let now = (self.config.clock)();
        lock(&self.kept).keep(key, decision, now, self.config.ttl);
    }

    async fn ask(
        &self,
        key: DecisionKey,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        let known = self.find(&key);
        CacheType::Decision.looked_up(known.is_some());
        if let Some(decision) = known {
            return Ok(decision);
        }

        let flight = Flight::new(&self.asked, &key);
        let _turn = flight.turn.lock().await;

        // The request that had the turn before may have cached the decision.
        if let Some(decision) = self.find(&key) {
            return Ok(decision);
        }

        let decision = self.authorizer.decide(request).await?;
        self.keep(key, decision.clone());

        Ok(decision)
    }
}

impl CachedAuthorizer {
    /// Requests all missing decisions in one call.
    async fn ask_batch(&self, requests: Vec<AuthorizationRequest>) -> Decisions {
        let keys: Vec<_> = requests.iter().map(|request| self.key(request)).collect();
        let known: Vec<_> = keys.iter().map(|key| self.find(key.as_ref()?)).collect();
        let looked_up = keys.iter().zip(&known).filter(|(key, _)| key.is_some());

        looked_up.for_each(|(_, known)| CacheType::Decision.looked_up(known.is_some()));
        let asked = requests
            .into_iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none());
        let asked: Vec<_> = asked.map(|(request, _)| request).collect();
        let count = asked.len();
        let answers = if asked.is_empty() {
            Vec::new()
        } else {
            self.authorizer.decide_batch(asked).await?
        };

        // The gate would not notice a number that is right for all requests, and would give fields
        // the decisions of others.
        if answers.len() != count {
            let why = format!("{count} fields have {} decisions", answers.len());
            let failed = keys.iter().map(|_| Err(Error::internal(why.clone())));
            return Some(failed.collect());
        }

        let mut answers = answers.into_iter();
        let decided = keys
            .into_iter()
            .zip(known)
            .filter_map(|(key, known)| match known {
                Some(known) => Some(Ok(known)),
                None => answers.next().inspect(|answer| {
                    if let (Some(key), Ok(decision)) = (key, answer) {
                        self.keep(key, decision.clone());
                    }
                }),
            });

        Some(decided.collect())
    }
}

impl DynAuthorizer for CachedAuthorizer {
    fn decide_about(&self, question: &dyn AccessCheck) -> Result<Deciding<'_>> {
        let (arguments, kind, name) = (
            question.arguments()?,
            OperationType::of_root_field(question.kind()),
            question.field(),
        );

        let arguments = arguments.iter().map(|(name, value)| (*name, &**value));
        let principal = self.principal(&question.context());
        let Some(key) =
            principal.map(|principal| DecisionKey::new(&principal, kind, name, arguments))
        else {
            return self.authorizer.decide_about(question);
        };

        match self.find(&key) {
            Some(decision) => {
                CacheType::Decision.looked_up(true);
                Ok(Deciding::Now(decision))
            }
            // `ask` counts the lookup.
            None => Ok(Deciding::Later(self.ask(key, question.request()?).boxed())),
        }
    }

    fn decide(
        &self,
        request: AuthorizationRequest,
    ) -> BoxFuture<'_, Result<AuthorizationDecision>> {
        match self.key(&request) {
            Some(key) => self.ask(key, request).boxed(),
            None => self.authorizer.decide(request),
        }
    }

    fn decide_batch(&self, requests: Vec<AuthorizationRequest>) -> BoxFuture<'_, Decisions> {
        self.ask_batch(requests).boxed()
    }
}

/// One of the requests waiting for the same decision. The last one removes the entry, however it
/// ends.
struct Flight<'a> {
    asked: &'a Mutex<HashMap<DecisionKey, Arc<tokio::sync::Mutex<()>>>>,
    key: &'a DecisionKey,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl<'a> Flight<'a> {
    fn new(
        asked: &'a Mutex<HashMap<DecisionKey, Arc<tokio::sync::Mutex<()>>>>,
        key: &'a DecisionKey,
    ) -> Self {
        let turn = lock(asked).entry(*key).or_default().clone();
        Self { asked, key, turn }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut asked = lock(self.asked);
        // One reference is in the map, and one in this value; while the map is locked, no request
        // can take another.
        if Arc::strong_count(&self.turn) <= 2 {
            asked.remove(self.key);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use super::{DecisionKey, Flight};
    use crate::authz::OperationType;

    #[test]
    fn a_flight_is_removed_with_its_last_waiter() {
        let key = DecisionKey::new("ada", OperationType::Query, "posts", []);
        let asked = Mutex::new(HashMap::new());
        let (first, second) = (Flight::new(&asked, &key), Flight::new(&asked, &key));

        drop(first);
        assert_eq!(
            asked.lock().unwrap().len(),
            1,
            "the other still waits for its answer"
        );

        drop(second);

        assert!(asked.lock().unwrap().is_empty());
    }
}
