//! The store under a flood of new clients, and from many threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{WHOLE, limit, take, user};
use crate::rate_limit::RateLimitStrategy::{FixedWindow, SlidingWindow, TokenBucket};
use crate::rate_limit::client::{Client, KnownClient};
use crate::rate_limit::limit::Meter;
use crate::rate_limit::store::{MemoryStore, Standings, Takes};

const NOW: u64 = 1_000_000_020_000;

/// A million new clients fill a store of 100,000 counts. Limited clients stay limited, previous
/// clients are unaffected, and each new client gets its own limit, in the place of others that have
/// hardly used theirs.
#[test]
fn a_flood_of_new_clients_changes_no_limit() {
    let meter = Meter {
        strategy: SlidingWindow,
        count: 10,
        window: 60_000,
        burst: 10,
    };

    let store = MemoryStore::new(100_000);
    let allowed = |number, now| take(&store, meter, &user(number), 1, now).wait.is_none();
    let (limited, known) = (2_000_000, 2_000_001);

    assert!((0..10).all(|_| allowed(limited, NOW)) && !allowed(limited, NOW));
    assert!((0..3).all(|_| allowed(known, NOW)));
    assert!(
        (0..1_000_000).all(|number| allowed(number, NOW)),
        "a stranger was refused"
    );
    assert!(!allowed(limited, NOW), "one who is limited was freed");
    assert!(
        (0..7).all(|_| allowed(known, NOW)) && !allowed(known, NOW),
        "one who is known was not counted alone"
    );
    assert!(store.len() <= 100_064, "{} counts are kept", store.len());
    assert!(store.bytes() <= 100_000 * 200, "{} bytes", store.bytes());

    // Once all counts have expired, there is room for others.
    let later = NOW + 120_000;
    assert_eq!(
        (3_000_000..3_050_000)
            .filter(|number| allowed(*number, later))
            .count(),
        50_000
    );

    assert!(store.len() <= 100_064 && store.bytes() <= 100_000 * 200);
}

/// The counts of clients with more usage stay and keep counting, while the counts of clients with
/// less usage are evicted.
#[test]
fn the_least_used_counts_are_evicted_first() {
    let meter = Meter {
        strategy: FixedWindow,
        count: 1_000,
        window: 60_000,
        burst: 10,
    };

    let store = MemoryStore::new(64_000);
    let take = |number, amount| take(&store, meter, &user(number), amount, NOW).remaining;

    // A tenth of the store has used an eighth of the limit, which could be evicted if no other
    // count limited less.
    (0..6_400).for_each(|number| assert!(take(number, 125) <= 1_000));
    (100_000..400_000).for_each(|number| assert!(take(number, 1) <= 1_000));
    let kept = (0..6_400).filter(|number| take(*number, 1) == 874).count();

    assert!(kept >= 6_300, "{kept} of 6,400 are kept");
}

/// A store full of clients that have used more than half: strangers share counts by their networks,
/// and the flooding network uses up its own.
#[test]
fn a_network_that_floods_a_full_store_uses_up_its_own_share() {
    let meter = Meter {
        strategy: FixedWindow,
        count: 10,
        window: 60_000,
        burst: 10,
    };

    let store = MemoryStore::new(640);
    for number in 0..10_000 {
        take(&store, meter, &user(number), 6, NOW);
    }

    let at = |address: [u8; 4]| KnownClient::from(Client::at(Some(address.into()), 64));
    let allowed = |client: &KnownClient| take(&store, meter, client, 1, NOW).wait.is_none();
    let flooding = (0..=255)
        .filter(|last| allowed(&at([192, 0, 2, *last])))
        .count();
    assert!(flooding <= 20, "{flooding} of one network");
    let others = (0..100)
        .filter(|net| allowed(&at([198, 51, *net, 1])))
        .count();

    assert!(others >= 95, "{others} of 100 other networks");
}

/// Clients that have sent one request of two make room for others, and limited clients do not.
#[test]
fn counts_of_single_requests_are_evicted_under_small_limits() {
    for strategy in [FixedWindow, SlidingWindow, TokenBucket] {
        let meter = Meter {
            strategy,
            count: 2,
            window: 60_000,
            burst: 2,
        };

        let store = MemoryStore::new(6_400);
        let allowed = |number| take(&store, meter, &user(number), 1, NOW).wait.is_none();
        let limited = 1_000_000;

        assert!(
            allowed(limited) && allowed(limited) && !allowed(limited),
            "{strategy:?}"
        );
        assert!(
            (0..50_000).all(allowed),
            "{strategy:?}: a stranger was refused"
        );

        assert!(
            !allowed(limited),
            "{strategy:?}: one who is limited was freed"
        );
    }
}

#[test]
fn counts_of_single_requests_stay_under_a_limit_of_one() {
    for strategy in [FixedWindow, SlidingWindow, TokenBucket] {
        let meter = Meter {
            strategy,
            count: 1,
            window: 60_000,
            burst: 1,
        };

        let store = MemoryStore::new(640);
        let allowed = |number| take(&store, meter, &user(number), 1, NOW).wait.is_none();
        for number in 0..10_000 {
            take(&store, meter, &user(number), 1, NOW);
        }

        assert_eq!(
            (0..10_000).filter(|number| allowed(*number)).count(),
            0,
            "{strategy:?}"
        );
    }
}

/// If one limit of a request requires a wait, no count is taken.
#[test]
fn all_counts_of_a_request_are_taken_or_none() {
    let meter = |count| Meter {
        strategy: FixedWindow,
        count,
        window: 60_000,
        burst: 1,
    };

    let (store, client) = (MemoryStore::new(1_000), user(1));
    let (wide, narrow) = (limit("wide", meter(5)), limit("narrow", meter(2)));
    let both = || {
        store.take(
            Takes {
                client: &client,
                amounts: &[(&wide, 1), (&narrow, 1)],
            },
            WHOLE,
            NOW,
        )
    };

    let waits = |standings: Standings| standings.iter().map(|one| one.wait.is_some()).collect();
    assert_eq!(
        [waits(both()), waits(both())],
        [vec![false, false], vec![false, false]]
    );
    let refused: Vec<bool> = waits(both());
    assert_eq!(refused, [false, true]);
    let left = store.take(
        Takes {
            client: &client,
            amounts: &[(&wide, 3)],
        },
        WHOLE,
        NOW,
    )[0];

    assert_eq!((left.wait, left.remaining), (None, 0));
}

/// Exactly as many requests pass as are allowed, from 64 threads, at the edge of a window and on
/// both sides of it.
#[test]
fn exactly_as_many_pass_as_are_allowed() {
    for (strategy, passing) in [
        (FixedWindow, [500, 0, 500, 0]),
        (SlidingWindow, [500, 0, 0, 250]),
        (TokenBucket, [80, 0, 0, 80]),
    ] {
        let meter = Meter {
            strategy,
            count: 500,
            window: 60_000,
            burst: 80,
        };
        let store = MemoryStore::new(1_000);
        let edge = NOW / 60_000 * 60_000 + 60_000;
        for (now, expected) in [edge - 1, edge - 1, edge, edge + 30_000]
            .into_iter()
            .zip(passing)
        {
            let passed = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..64 {
                    scope.spawn(|| {
                        for _ in 0..20 {
                            let standing = take(&store, meter, &user(1), 1, now);
                            passed
                                .fetch_add(usize::from(standing.wait.is_none()), Ordering::Relaxed);
                        }
                    });
                }
            });

            assert_eq!(passed.into_inner(), expected, "{strategy:?} at {now}");
        }
    }
}
