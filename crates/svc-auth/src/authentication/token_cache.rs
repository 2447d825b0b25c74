//! A cache of verified tokens in bounded memory.

use std::sync::Arc;
use std::time::SystemTime;

use ahash::RandomState;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, DefaultLifecycle};
use ring::rand::{SecureRandom as _, SystemRandom};
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::token::claims::time;
use crate::{Authenticated, Verified};

/// The initial capacity in tokens.
const EXPECTED: usize = 1_024;
/// The approximate size of a cached token besides its claims: the entry, the user and the string
/// headers.
const OVERHEAD: u64 = 1_024;

/// Tokens that need no further verification.
///
/// The cache key is a 128-bit hash with a random key, so that an attacker cannot construct another
/// token with the same hash, and no token stays in memory for longer than its request.
#[derive(Debug)]
pub struct TokenCache {
    entries: Cache<u128, Entry, ByWeight, RandomState, DefaultLifecycle<u128, Entry>>,
    hasher: SipHasher13,
}

#[derive(Debug, Clone)]
struct Entry {
    verified: Arc<Verified>,
    /// The generation of the signing keys that verified the token.
    generation: u64,
    until: SystemTime,
    weight: u64,
}

#[derive(Debug, Clone)]
struct ByWeight;

impl Weighter<u128, Entry> for ByWeight {
    fn weight(&self, _: &u128, entry: &Entry) -> u64 {
        entry.weight
    }
}

impl TokenCache {
    /// A cache of at most this many bytes; `None` for zero bytes, or if the system provides no
    /// random key.
    pub fn new(bytes: u64) -> Option<Self> {
        let mut key = [0; 16];
        SystemRandom::new()
            .fill(&mut key)
            .ok()
            .filter(|()| bytes > 0)?;
        let entries = Cache::with(
            EXPECTED,
            bytes,
            ByWeight,
            RandomState::default(),
            DefaultLifecycle::default(),
        );

        Some(Self {
            entries,
            hasher: SipHasher13::new_with_key(&key),
        })
    }

    /// The cache key of a token.
    pub(super) fn key(&self, token: &[u8]) -> u128 {
        let mut hasher = self.hasher;
        std::hash::Hasher::write(&mut hasher, token);
        hasher.finish128().as_u128()
    }

    /// Returns a cached token that is still valid.
    pub(super) fn get(&self, key: u128, generation: u64) -> Option<Arc<Verified>> {
        let entry = self.entries.get(&key)?;
        (entry.generation == generation && SystemTime::now() < entry.until)
            .then_some(entry.verified)
    }

    /// Prepares a token for its request, and caches it if its provider allows that.
    pub(super) fn keep(
        &self,
        key: u128,
        size: usize,
        generation: u64,
        token: &Authenticated,
    ) -> Arc<Verified> {
        let expires = token.claims.expires_at().and_then(time);
        let verified = Arc::new(Verified::new(token));
        if let Some(until) = token.keep_until {
            // An estimate: base64 makes the token a third longer than the claims that the user
            // holds, and the rest of the doubled size is for the headers of the user's strings.
            let weight = OVERHEAD + size as u64 * 2;
            let until = expires.map_or(until, |expires| until.min(expires));
            self.entries.insert(
                key,
                Entry {
                    verified: verified.clone(),
                    generation,
                    until,
                    weight,
                },
            );
        }

        verified
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claims, UserContext};

    #[test]
    fn the_cache_is_bounded_by_the_bytes_of_tokens() {
        let kept = TokenCache::new(300_000).unwrap();
        let until = SystemTime::now() + std::time::Duration::from_secs(60);
        let token = Authenticated::new(Claims::default(), UserContext::new("1")).keep_until(until);

        for key in 0..1_000 {
            kept.keep(key, 1_000, 0, &token);
        }

        // Each counts as 3,024 bytes.
        assert!(
            (60..=99).contains(&kept.entries.len()),
            "{}",
            kept.entries.len()
        );
    }
}
