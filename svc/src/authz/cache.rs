//! Decisions that are kept for a short time.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_graphql::Value;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use lru::LruCache;

use super::{AuthorizationDecision, AuthorizationRequest, DynAuthorizer, OperationType};
use crate::Result;
use crate::request::Context;

type PrincipalKey = Box<dyn Fn(&Context<'_>) -> Option<String> + Send + Sync>;
type Clock = Box<dyn Fn() -> Instant + Send + Sync>;

/// The settings of the cache of decisions; given to
/// [`AppOptions::authorization_cache`](crate::AppOptions::authorization_cache).
///
/// A decision is kept by the key of who asks, the operation's kind and name, and the arguments. So the authorizer has to
/// decide by these alone; whatever else it looks at may be a short time old. Decisions without a principal, and those of
/// an authorizer that fails, are never kept.
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
    /// A cache of at most 10,000 decisions, each kept for five seconds. `principal_key` gives the key of who asks, which no
    /// two of them share; decisions for `None` are not kept.
    pub fn new(principal_key: impl Fn(&Context<'_>) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            principal_key: Box::new(principal_key),
            ttl: Duration::from_secs(5),
            max_entries: 10_000,
            clock: Box::new(Instant::now),
        }
    }

    /// Sets the time for which a decision is kept. Nothing else ends one before its time, so keep it short.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// The most decisions that are kept; the one that was used the longest time ago gives way.
    #[must_use]
    pub fn max_entries(mut self, max_entries: usize) -> Self {
        self.max_entries = max_entries;
        self
    }

    /// The clock by which decisions age, for tests.
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

/// The question that a decision answers. No two questions have the same one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    principal: String,
    operation_type: OperationType,
    operation_name: String,
    /// The arguments with their types and lengths.
    arguments: Vec<u8>,
}

/// A decision and the end of its time.
struct Kept {
    decision: AuthorizationDecision,
    until: Instant,
}

/// An authorizer whose decisions are kept.
pub(crate) struct CachedAuthorizer {
    authorizer: Box<dyn DynAuthorizer>,
    config: AuthorizationCacheConfig,
    kept: Mutex<LruCache<Key, Kept>>,
    /// The questions that are being asked; whoever asks one again waits for the answer.
    asked: Mutex<HashMap<Key, Arc<tokio::sync::Mutex<()>>>>,
}

impl CachedAuthorizer {
    pub(crate) fn new(authorizer: Box<dyn DynAuthorizer>, config: AuthorizationCacheConfig) -> Self {
        let most = NonZeroUsize::new(config.max_entries).unwrap_or(NonZeroUsize::MIN);
        // The table grows with its use: what is allowed may be far more than what comes.
        let mut kept = LruCache::unbounded();
        kept.resize(most);
        Self { authorizer, config, kept: Mutex::new(kept), asked: Mutex::default() }
    }

    fn key(&self, request: &AuthorizationRequest) -> Option<Key> {
        if self.config.max_entries == 0 || self.config.ttl.is_zero() {
            return None;
        }
        let principal = (self.config.principal_key)(&request.context())?;
        let mut arguments = Vec::new();
        for (name, value) in request.arguments() {
            text(&mut arguments, b'k', name);
            encode(&mut arguments, value)?;
        }
        let (operation_type, operation_name) = (request.operation_type(), request.operation_name().to_owned());
        Some(Key { principal, operation_type, operation_name, arguments })
    }

    fn find(&self, key: &Key) -> Option<AuthorizationDecision> {
        let now = (self.config.clock)();
        let mut kept = lock(&self.kept);
        let found = kept.get(key)?;
        if now < found.until {
            return Some(found.decision.clone());
        }
        kept.pop(key);
        None
    }

    fn keep(&self, key: Key, decision: AuthorizationDecision) {
        // A time beyond the clock's is none that is kept.
        if let Some(until) = (self.config.clock)().checked_add(self.config.ttl) {
            lock(&self.kept).put(key, Kept { decision, until });
        }
    }

    async fn ask(&self, key: Key, request: AuthorizationRequest) -> Result<AuthorizationDecision> {
        if let Some(decision) = self.find(&key) {
            return Ok(decision);
        }
        let flight = Flight::new(&self.asked, &key);
        let _turn = flight.turn.lock().await;
        if let Some(decision) = self.find(&key) {
            return Ok(decision);
        }
        let decision = self.authorizer.decide(request).await?;
        self.keep(key.clone(), decision.clone());
        Ok(decision)
    }
}

impl DynAuthorizer for CachedAuthorizer {
    fn decide(&self, request: AuthorizationRequest) -> BoxFuture<'_, Result<AuthorizationDecision>> {
        match self.key(&request) {
            Some(key) => self.ask(key, request).boxed(),
            None => self.authorizer.decide(request),
        }
    }
}

/// One of those who ask the same question, which is forgotten with the last of them, however it ends.
struct Flight<'a> {
    asked: &'a Mutex<HashMap<Key, Arc<tokio::sync::Mutex<()>>>>,
    key: &'a Key,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl<'a> Flight<'a> {
    fn new(asked: &'a Mutex<HashMap<Key, Arc<tokio::sync::Mutex<()>>>>, key: &'a Key) -> Self {
        let turn = lock(asked).entry(key.clone()).or_default().clone();
        Self { asked, key, turn }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut asked = lock(self.asked);
        // The map has one, and this has one.
        if Arc::strong_count(&self.turn) <= 2 {
            asked.remove(self.key);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a value so that no two values have the same bytes: its type, its length, and what it holds. `None` for a value
/// that has no such form.
fn encode(out: &mut Vec<u8>, value: &Value) -> Option<()> {
    match value {
        Value::Null => out.push(b'n'),
        Value::Boolean(value) => out.push(if *value { b't' } else { b'f' }),
        Value::Number(number) => text(out, b'd', &number.to_string()),
        Value::String(string) => text(out, b's', string),
        Value::Enum(name) => text(out, b'e', name),
        Value::Binary(_) => return None,
        Value::List(items) => {
            length(out, b'l', items.len());
            items.iter().try_for_each(|item| encode(out, item))?;
        }
        Value::Object(fields) => {
            length(out, b'o', fields.len());
            for (name, value) in fields {
                text(out, b'k', name);
                encode(out, value)?;
            }
        }
    }
    Some(())
}

fn text(out: &mut Vec<u8>, kind: u8, text: &str) {
    length(out, kind, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn length(out: &mut Vec<u8>, kind: u8, length: usize) {
    out.push(kind);
    out.extend_from_slice(&length.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use async_graphql::{Value, value};

    use super::encode;

    #[test]
    fn no_two_values_have_the_same_bytes() {
        let values: Vec<Value> = vec![
            value!(null),
            value!(true),
            value!(false),
            value!(1),
            value!("1"),
            value!(""),
            value!([]),
            value!({}),
            value!(["a,b"]),
            value!(["a", "b"]),
            value!([["a"], "b"]),
            value!([["a", "b"]]),
            value!("ab"),
            value!({ "a": "b" }),
            value!({ "a": null }),
            value!(["a", null]),
            value!(["a"]),
            value!([1]),
            value!(["1"]),
        ];
        let bytes = |value: &Value| {
            let mut out = Vec::new();
            encode(&mut out, value).unwrap();
            out
        };
        for (index, one) in values.iter().enumerate() {
            for other in &values[index + 1..] {
                assert_ne!(bytes(one), bytes(other), "{one} {other}");
            }
        }
        assert_eq!(encode(&mut Vec::new(), &Value::Binary(vec![1].into())), None);
    }
}
