//! The clients that have to wait according to Redis: they are rejected until then without another
//! round trip.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;

use crate::rate_limit::client::{CountKey, KnownClient};
use crate::rate_limit::limit::{Found, NamedLimit};

/// The maximum number of remembered clients. For a forgotten client, Redis is consulted again.
const MAX_CLIENTS: NonZeroUsize = NonZeroUsize::new(10_000).expect("not zero");

/// Clients that have to wait, by the limit.
#[derive(Debug)]
pub(in crate::rate_limit) struct Waiting(Mutex<LruCache<CountKey, (u64, Found)>>);

impl Waiting {
    pub(in crate::rate_limit) fn new() -> Self {
        Self(Mutex::new(LruCache::new(MAX_CLIENTS)))
    }

    /// Remembers how long a client has to wait, for a limit that amounts are never given back to.
    pub(in crate::rate_limit) fn remember(&self, found: &Found, client: &KnownClient, now: u64) {
        if let Some(wait) = found.standing.wait {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.put(
                client.key.with(found.limit.key),
                (now + wait, found.clone()),
            );
        }
    }

    /// Returns the remaining wait of a client for a limit.
    pub(in crate::rate_limit) fn find(
        &self,
        limit: &NamedLimit,
        client: &KnownClient,
        now: u64,
    ) -> Option<Found> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, found) = waiting.get(&client.key.with(limit.key))?;
        let left = until.checked_sub(now).filter(|left| *left > 0)?;
        let mut found = found.clone();

        // The state is as old as the entry, so the time since then is taken off both of its times.
        let passed = found.standing.wait.unwrap_or_default().saturating_sub(left);
        found.standing.wait = Some(left);
        found.standing.reset = found.standing.reset.saturating_sub(passed);
        Some(found)
    }
}
