//! The keys of counts.

use std::hash::Hash;
use std::sync::LazyLock;

use ahash::RandomState;

static HASHERS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);

/// The hashes of a limit, a client, or both, by two keys that nobody knows, so that clients cannot choose to share a
/// count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CountKey(pub(super) u64, pub(super) u64);

impl CountKey {
    /// The key of something by itself.
    pub(super) fn of(value: &impl Hash) -> Self {
        let [first, second] = HASHERS.each_ref().map(|hasher| hasher.hash_one(value));
        Self(first, second)
    }

    /// The key of a limit and a client, which are hashed once each and not for each pair.
    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 ^ other.0, self.1 ^ other.1)
    }
}
