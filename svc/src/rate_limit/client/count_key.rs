//! The keys of counts.

use std::hash::Hash;
use std::sync::LazyLock;

use ahash::RandomState;

static HASHERS: LazyLock<[RandomState; 2]> =
    LazyLock::new(|| [RandomState::new(), RandomState::new()]);

/// The hashes of a limit, a client, or both. The two hash keys are random and secret, so that
/// clients cannot provoke a collision to share a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::rate_limit) struct CountKey(
    pub(in crate::rate_limit) u64,
    pub(in crate::rate_limit) u64,
);

impl CountKey {
    /// Returns the key of a single value.
    pub(in crate::rate_limit) fn of(value: &impl Hash) -> Self {
        let [first, second] = HASHERS.each_ref().map(|hasher| hasher.hash_one(value));
        Self(first, second)
    }

    /// Combines the keys of a limit and a client, so that each is hashed once and not once per
    /// pair.
    pub(in crate::rate_limit) fn with(self, other: Self) -> Self {
        Self(self.0 ^ other.0, self.1 ^ other.1)
    }
}
