//! Counts in the memory of one process, limited in number.
//!
//! If there is no room for another, the count that limits least is evicted: an expired one, or else
//! the one with the smallest used part of its limit, and among equals the oldest. A half-used count
//! stays, so a flood of new clients exempts no limited client. Counts of a single request are an
//! exception, or such a flood could fill the memory with them where a limit allows only two or
//! three. If no count can be evicted, new clients share counts by their networks.

use std::cmp::Reverse;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use smallvec::SmallVec;

use super::request::{Amount, Standings, Takes, is_taken};
use crate::rate_limit::client::{CountKey, KnownClient};
use crate::rate_limit::limit::{Bucket, Meter, NamedLimit, Standing};

/// Clients are spread over shards, so that threads seldom wait for each other.
const SHARDS: usize = 64;
/// The number of counts inspected to make room for another. They are chosen at random, so if one
/// count in a thousand limits more than most, it is hardly ever the least of them.
const LOOKS: usize = 32;
/// The number of powers of two that a count has to be below its limit to be evicted: less than a
/// half is used.
const FORGETTABLE: u8 = 2;
/// The number of groups of networks whose clients share a count if there is no room.
const GROUPS: u64 = 1_024;

/// Counts by their keys, which are hashes already. After a look-up, a count is accessed again by
/// its index.
type Hashed<K, V> = IndexMap<K, V, BuildHasherDefault<KnownHash>>;

/// The keys of a request's counts.
type Keys = SmallVec<[CountKey; 4]>;

/// Hashes keys that are hashes already: returns their last number.
#[derive(Default)]
struct KnownHash(u64);

impl Hasher for KnownHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// The counts of a process.
pub(in crate::rate_limit) struct MemoryStore {
    shards: Box<[Mutex<Shard>]>,
    /// The shared counts of clients without room, by limit and group of networks. Locked after a
    /// shard.
    strangers: Mutex<Hashed<u64, Bucket>>,
    /// The maximum number of counts in a shard.
    room: usize,
}

/// The counts of some clients; all counts of a client are in the same shard.
#[derive(Default)]
struct Shard {
    counts: Hashed<CountKey, Count>,
    /// The state of the random number generator that chooses counts.
    random: u64,
}

#[derive(Clone, Copy)]
struct Count {
    bucket: Bucket,
    /// When the count expires: from then on it has no effect.
    forgotten_at: u64,
    /// The number of powers of two between the used amount and the limit. The higher, the less the
    /// count limits.
    slack: u8,
    /// Whether at most one request counts, of several that are allowed.
    is_single: bool,
}

impl Count {
    fn new(bucket: Bucket, meter: &Meter) -> Self {
        let (forgotten_at, slack) = (meter.forgotten_at(bucket), meter.slack(bucket));
        Self {
            bucket,
            forgotten_at,
            slack,
            is_single: meter.is_single(bucket),
        }
    }

    /// Returns how little the count limits, if it may be evicted.
    fn evictable(&self) -> Option<u8> {
        match self.slack {
            FORGETTABLE.. => Some(self.slack),
            _ => self.is_single.then_some(0),
        }
    }
}

/// The place of a client's count of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The client's own count.
    Own,
    /// The client's own count, which does not exist yet. There is room for it.
    New,
    /// The count that the client's group shares.
    Shared,
}

/// Selects the numbers that a store counts with: for the whole limit, or for the process's share.
pub(in crate::rate_limit) type Numbers = fn(&NamedLimit) -> &Meter;

impl MemoryStore {
    /// Creates a store of about `most` counts.
    pub(in crate::rate_limit) fn new(most: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self {
            shards,
            strangers: Mutex::default(),
            room: most.div_ceil(SHARDS).max(1),
        }
    }

    /// Takes all counts of a request, or none of them.
    pub(in crate::rate_limit) fn take(
        &self,
        takes: Takes<'_>,
        numbers: Numbers,
        now: u64,
    ) -> Standings {
        let mut counts = self.counts(takes.client);
        let mut standings = Standings::new();
        if !counts.take_known(takes.amounts, numbers, now, &mut standings) {
            standings = counts.take(takes.amounts, numbers, now);
        }
        standings
    }

    /// Gives back a part of the amount that was taken when the limit had the state `taken`.
    pub(in crate::rate_limit) fn give_back(
        &self,
        Takes { client, amounts }: Takes<'_>,
        numbers: Numbers,
        taken: Standing,
        now: u64,
    ) {
        let mut counts = self.counts(client);
        for (limit, amount) in amounts {
            // A client that shared a count may have its own by now.
            let (place, bucket) = if taken.is_shared {
                (Place::Shared, counts.shared(limit))
            } else {
                (Place::Own, counts.own(limit))
            };

            // A count that was evicted in the meantime is empty already.
            let Some(bucket) = bucket else {
                continue;
            };

            let meter = numbers(limit);
            let bucket = meter.advanced(bucket, now);
            let bucket = meter.given_back(bucket, taken.window, *amount);
            counts.keep(limit, place, Count::new(bucket, meter));
        }
    }

    fn counts<'a>(&'a self, client: &'a KnownClient) -> ClientCounts<'a> {
        // The first number selects the shard and the second the place in it: with one number for
        // both, the keys of a shard would collide in its map.
        let index = usize::try_from(client.key.0 % SHARDS as u64).unwrap_or(0);
        let shard = self.shards[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);

        ClientCounts {
            store: self,
            client,
            shard,
            strangers: None,
        }
    }
}

/// The counts of one client, locked against other changes.
struct ClientCounts<'a> {
    store: &'a MemoryStore,
    client: &'a KnownClient,
    shard: MutexGuard<'a, Shard>,
    strangers: Option<MutexGuard<'a, Hashed<u64, Bucket>>>,
}

impl<'a> ClientCounts<'a> {
    /// Takes all amounts, or none of them, from existing counts, with one look-up each. Returns
    /// whether all of them exist.
    fn take_known(
        &mut self,
        amounts: &[Amount<'_>],
        numbers: Numbers,
        now: u64,
        standings: &mut Standings,
    ) -> bool {
        let mut before: SmallVec<[(usize, Count); 4]> = SmallVec::new();
        let mut is_taken = true;
        for (limit, amount) in amounts {
            let Some((place, _, count)) = self
                .shard
                .counts
                .get_full_mut(&self.client.key.with(limit.key))
            else {
                break;
            };

            let meter = numbers(limit);
            let (bucket, standing) = meter.taken(count.bucket, now, *amount);
            before.push((place, *count));
            *count = Count::new(bucket, meter);
            is_taken &= standing.wait.is_none();

            standings.push(standing);
        }

        let is_known = before.len() == amounts.len();

        // The places are still valid, as nothing was added or removed.
        if !is_known || !is_taken {
            before
                .into_iter()
                .for_each(|(place, count)| self.shard.counts[place] = count);
        }

        is_known
    }

    /// Takes all amounts, or none of them, and makes room for missing counts.
    fn take(&mut self, amounts: &[Amount<'_>], numbers: Numbers, now: u64) -> Standings {
        let client = self.client.key;
        let keys: Keys = amounts
            .iter()
            .map(|(limit, _)| client.with(limit.key))
            .collect();

        let mut after: SmallVec<[(Place, Bucket); 4]> = SmallVec::new();
        let mut standings = Standings::new();
        let mut reserved = 0;
        for (limit, amount) in amounts {
            let (place, bucket) = self.find(limit, &keys, reserved, now);
            let (bucket, mut standing) = numbers(limit).taken(bucket, now, *amount);
            standing.is_shared = place == Place::Shared;
            reserved += usize::from(place == Place::New);
            after.push((place, bucket));
            standings.push(standing);
        }

        if is_taken(&standings) {
            for ((limit, _), (place, bucket)) in amounts.iter().zip(after) {
                self.keep(limit, place, Count::new(bucket, numbers(limit)));
            }
        }

        standings
    }

    /// Returns the place of a count, and the amount that was taken from its limit. If the count
    /// does not exist and no room can be made for it, the place is the count of the client's group.
    ///
    /// `keys` are the counts of the request, which are not evicted for each other. `reserved` is
    /// the number of those that will be added to the shard.
    fn find(
        &mut self,
        limit: &NamedLimit,
        keys: &[CountKey],
        reserved: usize,
        now: u64,
    ) -> (Place, Bucket) {
        if let Some(bucket) = self.own(limit) {
            return (Place::Own, bucket);
        }

        let room = self.store.room.saturating_sub(reserved);
        if self.shard.make_room(room, keys, now) {
            (Place::New, Bucket::default())
        } else {
            (Place::Shared, self.shared(limit).unwrap_or_default())
        }
    }

    /// Returns the amount that the client has taken from a limit, if it has its own count.
    fn own(&self, limit: &NamedLimit) -> Option<Bucket> {
        let count = self.shard.counts.get(&self.client.key.with(limit.key))?;
        Some(count.bucket)
    }

    /// Stores a count in its place.
    fn keep(&mut self, limit: &NamedLimit, place: Place, count: Count) {
        match place {
            Place::Own | Place::New => {
                let key = self.client.key.with(limit.key);
                self.shard.counts.insert(key, count);
            }
            Place::Shared => {
                let key = self.shared_key(limit);
                self.strangers().insert(key, count.bucket);
            }
        }
    }

    /// Returns the amount that the client's group has taken from a limit, if it shares a count.
    fn shared(&mut self, limit: &NamedLimit) -> Option<Bucket> {
        let key = self.shared_key(limit);
        self.strangers().get(&key).copied()
    }

    /// Returns the key of the count that clients of a group share. The number of groups is fixed,
    /// so these counts need no bound.
    fn shared_key(&self, limit: &NamedLimit) -> u64 {
        limit.key.0 ^ (self.client.group().0 % GROUPS)
    }

    fn strangers(&mut self) -> &mut Hashed<u64, Bucket> {
        let store = self.store;
        self.strangers.get_or_insert_with(|| {
            store
                .strangers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        })
    }
}

impl Shard {
    /// Makes room for another count, if necessary by evicting the one that limits least, but none of
    /// the `spared`. Returns whether there is room.
    fn make_room(&mut self, room: usize, spared: &[CountKey], now: u64) -> bool {
        if self.counts.len() < room {
            return true;
        }

        let mut least: Option<(Reverse<u8>, u64, usize)> = None;
        for _ in 0..LOOKS {
            let index = self.random_index();
            let Some((key, count)) = self.counts.get_index(index) else {
                continue;
            };

            if spared.contains(key) {
                continue;
            }

            // The search ends here, as no count limits less than an expired one.
            if count.forgotten_at <= now {
                self.counts.swap_remove_index(index);
                return true;
            }

            if let Some(slack) = count.evictable() {
                let rank = (Reverse(slack), count.forgotten_at, index);
                least = Some(least.map_or(rank, |least| least.min(rank)));
            }
        }

        let Some((_, _, index)) = least else {
            return false;
        };

        self.counts.swap_remove_index(index);

        true
    }

    /// Returns the index of a count, chosen by a xorshift generator. Guessing it is of no use, as
    /// the keys are secret.
    fn random_index(&mut self) -> usize {
        // A xorshift generator never leaves zero.
        let mut random = if self.random == 0 {
            0x9E37_79B9_7F4A_7C15
        } else {
            self.random
        };

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random = random;

        usize::try_from(random % (self.counts.len().max(1) as u64)).unwrap_or(0)
    }
}

/// The size and the content of the store.
#[cfg(test)]
impl MemoryStore {
    /// Returns the used amounts of the client's own count of a limit, and of its group's.
    pub(in crate::rate_limit) fn used(
        &self,
        client: &KnownClient,
        limit: &NamedLimit,
    ) -> (Option<u64>, u64) {
        let mut counts = self.counts(client);
        let own = counts.own(limit).map(|bucket| bucket.used);
        let shared = counts.shared(limit).map_or(0, |bucket| bucket.used);
        (own, shared)
    }

    pub(in crate::rate_limit) fn len(&self) -> usize {
        self.sum(|shard| shard.counts.len())
    }

    pub(in crate::rate_limit) fn bytes(&self) -> usize {
        // Includes the hash of an entry, its index, and its control byte.
        let count = size_of::<(CountKey, Count)>() + 8 + 8 * 8 / 7 + 1;
        self.sum(|shard| shard.counts.capacity() * count)
    }

    fn sum(&self, of: impl Fn(&Shard) -> usize) -> usize {
        self.shards
            .iter()
            .map(|shard| of(&shard.lock().unwrap_or_else(PoisonError::into_inner)))
            .sum()
    }
}

/// Omits the counts.
impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore")
            .field("room", &(self.room * SHARDS))
            .finish_non_exhaustive()
    }
}
