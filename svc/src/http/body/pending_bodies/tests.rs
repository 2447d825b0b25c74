//! Which bodies are given up at a limit.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use futures_util::future::pending;
use tracing::subscriber::{NoSubscriber, set_default};

use super::{PendingBodies, PendingBody, PendingBounds};

fn bodies(bodies: usize, per_address: usize, bytes: usize) -> Arc<PendingBodies> {
    PendingBodies::new(PendingBounds {
        bodies,
        per_address,
        bytes,
    })
}

fn address(last: u8) -> Option<IpAddr> {
    Some(Ipv4Addr::new(192, 0, 2, last).into())
}

/// Returns the status of the rejection of a body that never ends, if it was given up.
fn given_up(body: &PendingBody) -> Option<u16> {
    let arrived = body.arrive(pending::<()>()).now_or_never()?;
    arrived.err().map(|refusal| refusal.status.as_u16())
}

#[test]
fn the_oldest_body_of_the_busiest_address_is_given_up() {
    let bodies = bodies(4, 4, 1_000);
    let attacker: Vec<_> = (0..3).map(|_| bodies.register(address(1))).collect();
    let other = bodies.register(address(2));
    let newcomers: Vec<_> = (3..5).map(|last| bodies.register(address(last))).collect();
    let statuses: Vec<_> = attacker.iter().map(given_up).collect();

    assert_eq!(statuses, [Some(503), Some(503), None]);

    assert!(
        newcomers
            .iter()
            .chain([&other])
            .all(|body| given_up(body).is_none())
    );
}

#[test]
fn an_address_at_its_bound_loses_its_oldest_body() {
    let bodies = bodies(100, 2, 1_000);
    let other = bodies.register(address(2));
    let own: Vec<_> = (0..4).map(|_| bodies.register(address(1))).collect();
    assert_eq!(
        own.iter().map(given_up).collect::<Vec<_>>(),
        [Some(429), Some(429), None, None]
    );
    assert_eq!(given_up(&other), None);
}

#[test]
fn the_address_with_most_bytes_makes_room_for_bytes() {
    let bodies = bodies(100, 100, 1_000);
    let (large, small) = (bodies.register(address(1)), bodies.register(address(2)));
    large.keep(800);
    small.keep(100);
    let newcomer = bodies.register(address(3));
    newcomer.keep(500);
    assert_eq!(
        [&large, &small, &newcomer].map(given_up),
        [Some(503), None, None]
    );
    drop((large, small, newcomer));

    assert_eq!(bodies.bytes.load(Ordering::Relaxed), 0);
}

/// The bytes of complete bodies cannot be freed, and dropping empty ones frees nothing.
#[test]
fn bodies_without_bytes_make_no_room_for_bytes() {
    let bodies = bodies(100, 100, 1_000);
    let complete = bodies.register(address(1));
    complete.keep(1_000);
    assert!(matches!(
        complete.arrive(async {}).now_or_never(),
        Some(Ok(()))
    ));
    let (empty, newcomer) = (bodies.register(address(2)), bodies.register(address(3)));
    newcomer.keep(1);
    assert_eq!([&empty, &newcomer].map(given_up), [None, Some(503)]);
}

/// A large body is given up by a small one while its bytes are being counted.
#[test]
fn the_bytes_of_all_bodies_never_fall_below_zero() {
    let bodies = bodies(100, 100, 0);
    std::thread::scope(|scope| {
        for (last, bytes) in [(1, 1_000), (2, 1), (3, 1_000), (4, 1)] {
            let bodies = &bodies;
            scope.spawn(move || {
                // Without a runtime, each aborted body is logged.
                let _silent = set_default(NoSubscriber::default());
                for _ in 0..50_000 {
                    let body = bodies.register(address(last));
                    body.keep(bytes);
                    let all = bodies.bytes.load(Ordering::Relaxed);
                    assert!(all <= 4 * 1_000, "{all} bytes");
                }
            });
        }
    });

    assert_eq!(bodies.bytes.load(Ordering::Relaxed), 0);
}

#[test]
fn bodies_that_have_arrived_or_are_dropped_leave_room() {
    let bodies = bodies(2, 2, 1_000);
    let first = bodies.register(address(1));
    assert!(matches!(
        first.arrive(async {}).now_or_never(),
        Some(Ok(()))
    ));
    drop(bodies.register(address(1)));
    let (second, third) = (bodies.register(address(1)), bodies.register(address(1)));
    assert_eq!([&second, &third].map(given_up), [None, None]);
    assert_eq!(bodies.lock().len(), 2);
    drop((second, third));

    assert_eq!(bodies.lock().len(), 0);
}
