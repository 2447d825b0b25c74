//! Counts in the memory of one process, of which there are only so many.
//!
//! A count is forgotten when it is as if it had never been, and no sooner: a flood of new clients frees nobody who is
//! limited. Where there is no room for another, new clients share one count for each limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use smallvec::SmallVec;

use super::client::KnownClient;
use super::count_key::CountKey;
use super::meter::{Bucket, Meter};
use super::named_limit::NamedLimit;
use super::store::{Amount, Standings, Takes, is_taken};

/// Clients of different threads lie in different places, so that threads seldom wait for each other.
const SHARDS: usize = 64;
/// The counts that are looked at to make room for another.
const LOOKS: usize = 16;

/// Counts by their keys, which are hashes already; one that was found is found again by its place.
type Hashed<K, V> = IndexMap<K, V, BuildHasherDefault<KnownHash>>;

/// A hasher of keys that are hashes: their last number.
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
pub(super) struct MemoryStore {
    shards: Box<[Mutex<Shard>]>,
    /// The counts of those for whom there is no room, by limit. It is locked after a shard.
    strangers: Mutex<Hashed<u64, Bucket>>,
    /// The most counts of a shard.
    room: usize,
}

/// The counts of some clients: all those of each.
#[derive(Default)]
struct Shard {
    counts: Hashed<CountKey, Count>,
    /// The earliest time at which each may be forgotten; the first comes first.
    ends: BinaryHeap<Reverse<(u64, CountKey)>>,
}

#[derive(Clone, Copy)]
struct Count {
    bucket: Bucket,
    forgotten_at: u64,
}

/// The numbers of a limit by which a store counts: its own, or those of the process's share.
pub(super) type Numbers = fn(&NamedLimit) -> &Meter;

impl MemoryStore {
    /// A store of about so many counts.
    pub(super) fn new(most: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, strangers: Mutex::default(), room: most.div_ceil(SHARDS).max(1) }
    }

    /// Takes all counts of a request or none of them.
    pub(super) fn take(&self, takes: Takes<'_>, numbers: Numbers, now: u64) -> Standings {
        let mut counts = self.counts(takes.client);
        let mut standings = Standings::new();
        if !counts.take_known(takes.amounts, numbers, now, &mut standings) {
            standings = counts.take(takes.amounts, numbers, now);
        }
        standings
    }

    /// Gives back a part of what was taken in the window that began at `window`.
    pub(super) fn give_back(&self, Takes { client, amounts }: Takes<'_>, numbers: Numbers, window: u64, now: u64) {
        let mut counts = self.counts(client);
        for (limit, amount) in amounts {
            let meter = numbers(limit);
            let bucket = meter.advanced(counts.find(limit, now), now);
            let bucket = meter.given_back(bucket, window, *amount);
            counts.keep(limit, bucket, meter.forgotten_at(bucket));
        }
    }

    fn counts(&self, client: &KnownClient) -> ClientCounts<'_> {
        let index = usize::try_from(client.key.0 % SHARDS as u64).unwrap_or(0);
        let shard = self.shards[index].lock().unwrap_or_else(PoisonError::into_inner);
        ClientCounts { store: self, client: client.key, shard, strangers: None }
    }
}

/// The counts of one client, which nobody else changes meanwhile.
struct ClientCounts<'a> {
    store: &'a MemoryStore,
    client: CountKey,
    shard: MutexGuard<'a, Shard>,
    strangers: Option<MutexGuard<'a, Hashed<u64, Bucket>>>,
}

impl<'a> ClientCounts<'a> {
    /// Takes all amounts or none of them from counts that are there, each of which is looked up once; whether all of them are
    /// there.
    fn take_known(&mut self, amounts: &[Amount<'_>], numbers: Numbers, now: u64, standings: &mut Standings) -> bool {
        let mut before: SmallVec<[(usize, Count); 4]> = SmallVec::new();
        let mut is_taken = true;
        for (limit, amount) in amounts {
            let Some((place, _, count)) = self.shard.counts.get_full_mut(&self.client.with(limit.key)) else { break };
            let meter = numbers(limit);
            let (bucket, standing) = meter.taken(count.bucket, now, *amount);
            before.push((place, *count));
            *count = Count { bucket, forgotten_at: meter.forgotten_at(bucket) };
            is_taken &= standing.wait.is_none();
            standings.push(standing);
        }
        let is_known = before.len() == amounts.len();
        if !is_known || !is_taken {
            before.into_iter().for_each(|(place, count)| self.shard.counts[place] = count);
        }
        is_known
    }

    /// Takes all amounts or none of them, and makes room for the counts that are not there.
    fn take(&mut self, amounts: &[Amount<'_>], numbers: Numbers, now: u64) -> Standings {
        let mut advanced: SmallVec<[Bucket; 4]> = SmallVec::new();
        let mut standings = Standings::new();
        for (limit, amount) in amounts {
            let (bucket, standing) = numbers(limit).taken(self.find(limit, now), now, *amount);
            advanced.push(bucket);
            standings.push(standing);
        }
        if is_taken(&standings) {
            for ((limit, _), bucket) in amounts.iter().zip(advanced) {
                self.keep(limit, bucket, numbers(limit).forgotten_at(bucket));
            }
        }
        standings
    }

    /// The amount that was taken from a limit. Where it has no place and none can be made for it, that of the strangers.
    fn find(&mut self, limit: &NamedLimit, now: u64) -> Bucket {
        if let Some(count) = self.shard.counts.get(&self.client.with(limit.key)) {
            count.bucket
        } else if self.shard.make_room(self.store.room, now) {
            Bucket::default()
        } else {
            self.strangers().get(&limit.key.0).copied().unwrap_or_default()
        }
    }

    /// Keeps what was taken where [`find`](Self::find) has looked.
    fn keep(&mut self, limit: &NamedLimit, bucket: Bucket, forgotten_at: u64) {
        let (key, count) = (self.client.with(limit.key), Count { bucket, forgotten_at });
        if let Some(known) = self.shard.counts.get_mut(&key) {
            *known = count;
        } else if self.shard.counts.len() < self.store.room {
            self.shard.counts.insert(key, count);
            self.shard.ends.push(Reverse((forgotten_at, key)));
        } else {
            self.strangers().insert(limit.key.0, bucket);
        }
    }

    fn strangers(&mut self) -> &mut Hashed<u64, Bucket> {
        let store = self.store;
        self.strangers.get_or_insert_with(|| store.strangers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shard {
    /// Whether there is room for another, if need be in the place of one that is as if it had never been.
    fn make_room(&mut self, room: usize, now: u64) -> bool {
        for _ in 0..LOOKS {
            if self.counts.len() < room {
                return true;
            }
            let is_over = |Reverse((end, _)): &&Reverse<(u64, CountKey)>| *end <= now;
            let Some(Reverse((_, key))) = self.ends.peek().filter(is_over).copied() else { return false };
            self.ends.pop();
            match self.counts.get(&key) {
                // It was used since.
                Some(count) if count.forgotten_at > now => self.ends.push(Reverse((count.forgotten_at, key))),
                _ => drop(self.counts.swap_remove(&key)),
            }
        }
        self.counts.len() < room
    }
}

/// The size of the store.
#[cfg(test)]
impl MemoryStore {
    pub(super) fn len(&self) -> usize {
        self.sum(|shard| shard.counts.len())
    }

    pub(super) fn bytes(&self) -> usize {
        // With the hash of an entry, its position, and the byte by which it is found.
        let count = size_of::<(CountKey, Count)>() + 8 + 8 * 8 / 7 + 1;
        self.sum(|shard| shard.counts.capacity() * count + shard.ends.capacity() * size_of::<(u64, CountKey)>())
    }

    fn sum(&self, of: impl Fn(&Shard) -> usize) -> usize {
        self.shards.iter().map(|shard| of(&shard.lock().unwrap_or_else(PoisonError::into_inner))).sum()
    }
}

/// Shows no count.
impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").field("room", &(self.room * SHARDS)).finish_non_exhaustive()
    }
}
