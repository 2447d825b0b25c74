//! Revocations in Redis.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redis::cmd;

use super::{RevocableToken, RevocationStore};
use crate::AuthError;
use svc_core::RedisClient;

/// The maximum number of tokens looked up with one command.
const TOKENS_AT_ONCE: usize = 256;

/// Keeps the later cut-off and the longer retention time. The first argument is the cut-off, or 0
/// for a single token; the second is the retention time in milliseconds.
const KEEP: &str = "local cut = ARGV[1]
local known = redis.call('GET', KEYS[1])
if known and tonumber(known) > tonumber(cut) then cut = known end
local ms = tonumber(ARGV[2])
local left = redis.call('PTTL', KEYS[1])
if left > ms then ms = left end
redis.call('SET', KEYS[1], cut, 'PX', string.format('%d', ms))
return 1";

/// Revocations in Redis, shared by all instances of a service.
///
/// Checking a token takes one round trip. Redis must not evict keys (`maxmemory-policy noeviction`)
/// and must keep its data across restarts (`appendonly yes`): a lost revocation makes its token
/// valid again.
#[derive(Debug, Clone)]
pub struct RedisRevocationStore {
    client: RedisClient,
    ttl: Duration,
    prefix: String,
}

impl RedisRevocationStore {
    /// A store that keeps revocations for at least this time.
    pub fn new(redis_client: &RedisClient, ttl: Duration) -> Self {
        Self {
            client: redis_client.clone(),
            ttl,
            prefix: "svc:revoked:".to_owned(),
        }
    }

    /// Sets the prefix of the keys, for a Redis shared by several services; `svc:revoked:` by
    /// default.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    fn token(&self, id: &str) -> String {
        format!("{}token:{id}", self.prefix)
    }

    fn user(&self, subject: &str) -> String {
        format!("{}user:{subject}", self.prefix)
    }

    async fn keep(&self, key: String, cut_off: f64, until: SystemTime) -> Result<(), AuthError> {
        let left = until
            .duration_since(SystemTime::now())
            .unwrap_or_default()
            .max(self.ttl);
        let mut command = cmd("EVAL");

        // To the microsecond: Lua parses the text to compare it.
        command
            .arg(KEEP)
            .arg(1)
            .arg(key)
            .arg(format!("{cut_off:.6}"))
            // Redis rejects an expiry of zero.
            .arg(left.as_millis().max(1).to_string());

        self.client
            .query::<i64>(&command)
            .await
            .map(drop)
            .map_err(AuthError::unavailable)
    }
}

impl RevocationStore for RedisRevocationStore {
    async fn revoke(&self, id: &str, until: SystemTime) -> Result<(), AuthError> {
        self.keep(self.token(id), 0.0, until).await
    }

    async fn revoke_all(
        &self,
        subject: &str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> Result<(), AuthError> {
        let since = cut_off.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.keep(self.user(subject), since.as_secs_f64(), until)
            .await
    }

    async fn is_revoked(&self, token: &RevocableToken) -> Result<bool, AuthError> {
        Ok(self.look_up(&[token]).await?.contains(&true))
    }

    async fn are_revoked(&self, tokens: &[&RevocableToken]) -> Result<Vec<bool>, AuthError> {
        let mut answers = Vec::with_capacity(tokens.len());

        // Redis runs one command at a time, so a long `MGET` would delay all its other clients.
        for tokens in tokens.chunks(TOKENS_AT_ONCE) {
            answers.extend(self.look_up(tokens).await?);
        }
        Ok(answers)
    }
}

impl RedisRevocationStore {
    /// Looks up all tokens, with one or more keys each, in one round trip.
    async fn look_up(&self, tokens: &[&RevocableToken]) -> Result<Vec<bool>, AuthError> {
        let mut command = cmd("MGET");
        let mut count = 0;
        for token in tokens {
            let user = token.subject().map(|subject| self.user(subject));
            for key in token.ids().map(|id| self.token(id)).chain(user) {
                command.arg(key);
                count += 1;
            }
        }

        // Redis rejects `MGET` without keys.
        if count == 0 {
            return Ok(vec![false; tokens.len()]);
        }

        let found: Vec<Option<String>> = self
            .client
            .query(&command)
            .await
            .map_err(AuthError::unavailable)?;

        // Values and tokens are paired by position: a missing value would shift the results of all
        // tokens after it.
        if found.len() != count {
            return Err(AuthError::unavailable(
                "Redis has answered another number of values",
            ));
        }

        let mut found = found.into_iter();

        tokens
            .iter()
            .map(|token| is_revoked(token, &mut found))
            .collect()
    }
}

/// Whether a token is revoked. Consumes its values: one for each of its identifiers, and one for
/// its subject.
fn is_revoked(
    token: &RevocableToken,
    found: &mut impl Iterator<Item = Option<String>>,
) -> Result<bool, AuthError> {
    // All values are counted: `any` would stop at the first hit and leave the rest to the next
    // token.
    let listed = found
        .by_ref()
        .take(token.ids().count())
        .filter(Option::is_some)
        .count()
        > 0;

    let cut_off = token.subject().and_then(|_| found.next().flatten());
    let Some(cut_off) = cut_off.filter(|_| !listed) else {
        return Ok(listed);
    };

    // A value that cannot be read may be a valid cut-off, so it is an error and not "not revoked".
    let since = cut_off
        .parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let since =
        since.ok_or_else(|| AuthError::unavailable("a cut-off in Redis is not a number"))?;

    Ok(token.is_before(UNIX_EPOCH + since))
}
