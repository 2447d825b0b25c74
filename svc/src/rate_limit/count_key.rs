//! The keys of counts.

use std::hash::Hash;
use std::sync::LazyLock;

use ahash::RandomState;

static HASHERS: LazyLock<[RandomState; 2]> =
    LazyLock::new(|| [RandomState::new(), RandomState::new()]);

/// The hashes of a limit, a client, or both. The two hash keys are random and secret, so that
/// clients cannot provoke a collision to share a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CountKey(pub(super) u64, pub(super) u64);

impl CountKey {
    /// Returns the key of a single value.
    pub(super) fn of(value: &impl Hash) -> Self {
        let [first, second] = HASHERS.each_ref().map(|hasher| hasher.hash_one(value));
        Self(first, second)
    }

    /// Combines the keys of a limit and a client, so that each is hashed once and not once per
    /// pair.
    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 ^ other.0, self.1 ^ other.1)
    }
}
