//! Cached decisions, bounded by number and by size.

use std::fmt::{self, Write as _};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use lru::LruCache;

use super::decision_key::DecisionKey;
use crate::authz::AuthorizationDecision;

/// The maximum size of all decisions in bytes. Their conditions may contain input from clients.
const MAX_BYTES: usize = 16 << 20;
/// The share of that for a single decision, as a divisor.
const SHARE: usize = 64;
/// The size of a decision besides its strings, in bytes.
const BASE_BYTES: usize = 256;

/// The cached decisions; the least recently used one is evicted.
pub(super) struct KeptDecisions {
    decisions: LruCache<DecisionKey, Kept>,
    bytes: usize,
    /// When expired decisions were last removed.
    swept: Option<Instant>,
}

/// A decision and its expiry.
struct Kept {
    decision: AuthorizationDecision,
    until: Instant,
    bytes: usize,
}

impl KeptDecisions {
    /// An empty cache of at most this many decisions.
    pub(super) fn new(most: NonZeroUsize) -> Self {
        // The table grows on demand: the limit may be far above the actual number of decisions.
        let mut decisions = LruCache::unbounded();
        decisions.resize(most);
        Self {
            decisions,
            bytes: 0,
            swept: None,
        }
    }

    /// Returns a decision that has not expired.
    pub(super) fn find(
        &mut self,
        key: &DecisionKey,
        now: Instant,
    ) -> Option<AuthorizationDecision> {
        let found = self.decisions.get(key)?;
        if now < found.until {
            return Some(found.decision.clone());
        }
        self.forget(key);
        None
    }

    /// Caches a decision for a time, unless it is too large.
    pub(super) fn keep(
        &mut self,
        key: DecisionKey,
        decision: AuthorizationDecision,
        now: Instant,
        ttl: Duration,
    ) {
        self.sweep(now, ttl);
        let bytes = bytes_of(&decision);

        // If the clock cannot represent the expiry, the decision is not cached.
        let Some(until) = now.checked_add(ttl).filter(|_| bytes <= MAX_BYTES / SHARE) else {
            return;
        };

        self.bytes += bytes;

        // `push` returns the entry that it replaces under the same key, or evicts for its place.
        if let Some((_, gone)) = self.decisions.push(
            key,
            Kept {
                decision,
                until,
                bytes,
            },
        ) {
            self.bytes -= gone.bytes;
        }

        while self.bytes > MAX_BYTES {
            let Some((_, gone)) = self.decisions.pop_lru() else {
                return;
            };
            self.bytes -= gone.bytes;
        }
    }

    /// Removes expired decisions, at most once per `ttl`.
    fn sweep(&mut self, now: Instant, ttl: Duration) {
        let swept = *self.swept.get_or_insert(now);
        if now.saturating_duration_since(swept) < ttl {
            return;
        }

        self.swept = Some(now);
        let over = self
            .decisions
            .iter()
            .filter(|(_, kept)| kept.until <= now)
            .map(|(key, _)| *key);

        for key in over.collect::<Vec<_>>() {
            self.forget(&key);
        }
    }

    fn forget(&mut self, key: &DecisionKey) {
        if let Some(gone) = self.decisions.pop(key) {
            self.bytes -= gone.bytes;
        }
    }
}

/// Returns the size of a decision in bytes, measured by its `Debug` output, which includes all
/// strings.
fn bytes_of(decision: &AuthorizationDecision) -> usize {
    struct Length(usize);
    impl fmt::Write for Length {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }

    let mut shown = Length(BASE_BYTES);

    // The writer only counts, and cannot fail.
    let _ = write!(shown, "{decision:?}");

    shown.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authz::OperationType;
    use crate::sql::col;

    const TTL: Duration = Duration::from_secs(5);

    fn key(number: usize) -> DecisionKey {
        DecisionKey::new(&number.to_string(), OperationType::Query, "notes", [])
    }

    fn kept(most: usize) -> KeptDecisions {
        KeptDecisions::new(NonZeroUsize::new(most).unwrap())
    }

    #[test]
    fn bytes_of_decisions_are_bounded() {
        let (mut kept, now) = (kept(10_000), Instant::now());
        for number in 0..1_000 {
            let condition = col("title").eq("x".repeat(100_000));
            kept.keep(
                key(number),
                AuthorizationDecision::allow_where(condition),
                now,
                TTL,
            );
            assert!(kept.bytes <= MAX_BYTES, "{}", kept.bytes);
        }

        assert!(kept.decisions.len() > 100, "{}", kept.decisions.len());
        assert!(kept.find(&key(999), now).is_some() && kept.find(&key(0), now).is_none());
        let sum: usize = kept.decisions.iter().map(|(_, kept)| kept.bytes).sum();

        assert_eq!(sum, kept.bytes);
    }

    #[test]
    fn a_large_decision_is_not_kept() {
        let (mut kept, now) = (kept(10), Instant::now());
        let condition = col("title").eq("x".repeat(1_000_000));
        kept.keep(
            key(0),
            AuthorizationDecision::allow_where(condition),
            now,
            TTL,
        );

        assert_eq!((kept.decisions.len(), kept.bytes), (0, 0));
    }

    #[test]
    fn expired_decisions_are_evicted() {
        let (mut kept, start) = (kept(10_000), Instant::now());
        for number in 0..1_000 {
            kept.keep(key(number), AuthorizationDecision::allow(), start, TTL);
        }

        kept.keep(key(1_000), AuthorizationDecision::allow(), start + TTL, TTL);
        assert_eq!(kept.decisions.len(), 1);
        assert!(kept.find(&key(1_000), start + TTL).is_some());
        assert!(kept.find(&key(1_000), start + 2 * TTL).is_none());

        assert_eq!((kept.decisions.len(), kept.bytes), (0, 0));
    }

    #[test]
    fn the_number_of_decisions_is_bounded() {
        let (mut kept, now) = (kept(3), Instant::now());
        for number in 0..9 {
            kept.keep(key(number), AuthorizationDecision::deny(), now, TTL);
            kept.keep(key(number), AuthorizationDecision::allow(), now, TTL);
        }

        assert_eq!(kept.decisions.len(), 3);

        assert_eq!(
            kept.bytes,
            kept.decisions
                .iter()
                .map(|(_, kept)| kept.bytes)
                .sum::<usize>()
        );
    }

    #[test]
    fn a_key_has_the_same_size_for_long_arguments() {
        let long = async_graphql::Value::String("x".repeat(1_000_000));
        let of = |value| DecisionKey::new("ada", OperationType::Query, "notes", [("title", value)]);

        assert_eq!(size_of_val(&of(&long)), 32);

        assert_ne!(
            of(&long),
            of(&async_graphql::Value::String("x".repeat(999_999)))
        );
    }
}
