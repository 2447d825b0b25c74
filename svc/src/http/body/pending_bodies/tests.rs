//! Which bodies are given up at a limit.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::pending;

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
fn the_oldest_body_of_the_address_with_most_makes_room() {
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
fn an_address_at_its_bound_loses_its_own() {
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

    assert_eq!(bodies.bytes.load(std::sync::atomic::Ordering::Relaxed), 0);
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
