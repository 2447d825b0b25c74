//! A store without room for all clients: each amount counts once, in the client's own count or in
//! the one that its group shares.

use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::{WHOLE, limit};
use crate::rate_limit::RateLimitStrategy::FixedWindow;
use crate::rate_limit::client::{Client, KnownClient};
use crate::rate_limit::limit::{Meter, NamedLimit};
use crate::rate_limit::store::{Amount, MemoryStore, Takes, is_taken};

const NOW: u64 = 1_000_000_020_000;

/// The used amounts of a client's own count, if it has one, and of its group's.
type Used = (Option<u64>, u64);

/// The numbers of amounts in each kind of count, and of refused requests.
#[derive(Debug, Default)]
struct Seen {
    own: u32,
    shared: u32,
    refused: u32,
}

/// Returns a client of one of a hundred networks.
fn some_client(random: &mut StdRng) -> KnownClient {
    let [network, host]: [u8; 2] = [random.random_range(0..100), random.random_range(0..40)];
    let address: [u8; 4] = [198, 51, network, host];
    Client::at(Some(address.into()), 64).into()
}

/// Returns a large amount, which keeps its count from being evicted, or a small one.
fn some_amount(random: &mut StdRng) -> u64 {
    if random.random_bool(0.3) { 490 } else { 1 }
}

/// Returns the used amounts after an allowed amount: a client with an own count uses it, and one
/// without gets one or shares that of its group.
fn allowed((own, shared): Used, amount: u64) -> Vec<Used> {
    match own {
        Some(own) => vec![(Some(own + amount), shared)],
        None => vec![(Some(amount), shared), (None, shared + amount)],
    }
}

/// Takes from some limits, and checks what the amounts changed.
fn take_and_check(
    store: &MemoryStore,
    limits: &[Arc<NamedLimit>; 3],
    random: &mut StdRng,
    seen: &mut Seen,
) {
    let client = some_client(random);
    let (first, count): (usize, usize) = (random.random_range(0..3), random.random_range(1..=3));
    let amounts: Vec<Amount<'_>> = (0..count)
        .map(|next| (&limits[(first + next) % 3], some_amount(random)))
        .collect();

    let used = || -> Vec<Used> {
        amounts
            .iter()
            .map(|(limit, _)| store.used(&client, limit))
            .collect()
    };

    let before = used();
    let takes = Takes {
        client: &client,
        amounts: &amounts,
    };
    let standings = store.take(takes, WHOLE, NOW);
    let after = used();

    if !is_taken(&standings) {
        assert_eq!(before, after);
        seen.refused += 1;
        return;
    }

    for ((amount, before), after) in amounts.iter().zip(before).zip(&after) {
        let expected = allowed(before, amount.1);
        assert!(expected.contains(after), "{after:?} is not in {expected:?}");
        match after.0 {
            Some(_) => seen.own += 1,
            None => seen.shared += 1,
        }
    }

    let returned = Takes {
        client: &client,
        amounts: &[(amounts[0].0, 1)],
    };
    store.give_back(returned, WHOLE, standings[0], NOW);
    let expected = match after[0] {
        (Some(own), shared) => (Some(own - 1), shared),
        (None, shared) => (None, shared - 1),
    };

    assert_eq!(used()[0], expected, "after giving back");
}

#[test]
fn each_amount_counts_once_when_several_counts_are_missing() {
    let meter = Meter {
        strategy: FixedWindow,
        count: 1_000,
        window: 60_000,
        burst: 1,
    };

    let (mut random, mut seen) = (StdRng::seed_from_u64(4), Seen::default());
    let limits = ["first", "second", "third"].map(|name| limit(name, meter));
    for _ in 0..20 {
        let store = MemoryStore::new(640);
        for _ in 0..4_000 {
            take_and_check(&store, &limits, &mut random, &mut seen);
        }

        assert!(store.len() <= 640, "{} counts are kept", store.len());
    }

    assert!(
        seen.own > 1_000 && seen.shared > 1_000 && seen.refused > 1_000,
        "{seen:?}"
    );
}

/// A client without an own count gets one as soon as there is room.
#[test]
fn a_shared_amount_is_given_back_to_the_shared_count() {
    let meter = |window| Meter {
        strategy: FixedWindow,
        count: 1_000,
        window,
        burst: 1,
    };

    // The only count of the shard expires after a second.
    let (short, long) = (limit("short", meter(1_000)), limit("long", meter(60_000)));
    let (store, client) = (MemoryStore::new(1), KnownClient::from(Client::Unknown));
    let take = |limit: &Arc<NamedLimit>, amount, now| {
        let takes = Takes {
            client: &client,
            amounts: &[(limit, amount)],
        };
        store.take(takes, WHOLE, now)[0]
    };
    let give_back = |amount, taken, now| {
        let takes = Takes {
            client: &client,
            amounts: &[(&long, amount)],
        };
        store.give_back(takes, WHOLE, taken, now);
        store.used(&client, &long)
    };

    take(&short, 900, NOW);
    let shared = take(&long, 10, NOW);
    assert_eq!(store.used(&client, &long), (None, 10));

    let later = NOW + 1_000;
    assert!(take(&long, 2_000, later).wait.is_some());
    assert_eq!(store.len(), 0, "the expired count made room");
    assert_eq!(give_back(4, shared, later), (None, 6));

    let own = take(&long, 5, later);
    assert_eq!(give_back(6, shared, later), (Some(5), 0));
    assert_eq!(give_back(2, own, later), (Some(3), 0));
}
