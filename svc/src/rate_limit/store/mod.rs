//! The counts of a limiter: in this process, or in Redis, with this process as the fallback while
//! Redis is unavailable.

mod memory;
#[cfg(feature = "redis")]
mod redis;
mod request;
mod waiting;

pub(super) use memory::{MemoryStore, Numbers};
#[cfg(feature = "redis")]
pub(super) use redis::RedisStore;
pub(super) use request::{Amount, Amounts, Standings, Takes, is_taken};
pub(super) use waiting::Waiting;

use super::limit::Standing;

/// The counts of a limiter.
#[derive(Debug)]
pub(super) struct Counts {
    pub(super) memory: MemoryStore,
    #[cfg(feature = "redis")]
    pub(super) shared: Option<RedisStore>,
}

/// The numbers of the whole limit.
const WHOLE: Numbers = |limit| &limit.meter;
/// The numbers of this process's share.
#[cfg(feature = "redis")]
const SHARE: Numbers = |limit| &limit.share;

/// Counts that are stored in this process alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalCounts<'a>(&'a MemoryStore);

impl LocalCounts<'_> {
    /// Takes all counts of a request, or none of them.
    pub(super) fn take(self, takes: Takes<'_>, now: u64) -> Standings {
        self.0.take(takes, WHOLE, now)
    }
}

impl Counts {
    /// Takes all counts of a request, or none of them.
    pub(super) async fn take(&self, takes: Takes<'_>, now: u64) -> Standings {
        #[cfg(feature = "redis")]
        if let Some(shared) = &self.shared {
            let Some(mut standings) = shared.take(takes).await else {
                return self.memory.take(takes, SHARE, now);
            };

            // Counted here too, so that limited clients stay limited if Redis becomes unavailable.
            if is_taken(&standings) {
                for (amount, standing) in takes.amounts.iter().zip(&mut standings) {
                    // One by one: the share of this process may be used up in one limit, and the
                    // others still have to count.
                    let here = self.memory.take(
                        Takes {
                            amounts: std::slice::from_ref(amount),
                            ..takes
                        },
                        SHARE,
                        now,
                    );
                    standing.is_shared = here.iter().any(|here| here.is_shared);
                }
            }

            return standings;
        }

        self.memory.take(takes, WHOLE, now)
    }

    /// Gives back a part of the amount that was taken when the limit had the state `taken`.
    pub(super) async fn give_back(&self, takes: Takes<'_>, taken: Standing, now: u64) {
        #[cfg(feature = "redis")]
        if let Some(shared) = &self.shared {
            // An amount that this process counted by itself is not in Redis.
            if taken.is_in_redis {
                shared.give_back(takes, taken.window).await;
            }
            self.memory.give_back(takes, SHARE, taken, now);
            return;
        }
        self.memory.give_back(takes, WHOLE, taken, now);
    }

    /// Returns the counts if they are stored in this process alone, so that reading them never
    /// waits.
    pub(super) fn local(&self) -> Option<LocalCounts<'_>> {
        #[cfg(feature = "redis")]
        if self.shared.is_some() {
            return None;
        }
        Some(LocalCounts(&self.memory))
    }
}
