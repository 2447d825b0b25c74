//! Request bodies that are still arriving.
//!
//! A client determines how long its body takes, so such a request holds no permit of load shedding.
//! Separate limits apply to the number and the bytes of these bodies, in total and per address. At
//! a limit, the slowest body of the address with the most is dropped for the newcomer, so no client
//! can make the service reject the bodies of others.

mod pending_body;
mod registry;
#[cfg(test)]
mod tests;

pub(in crate::http) use pending_body::PendingBody;

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pending_body::Reason;
use registry::Registry;

use svc_core::log_throttle::LogThrottle;

/// The interval between log lines about dropped bodies.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// The limits of bodies that are still arriving.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingBounds {
    /// The maximum number of bodies of all clients.
    pub(crate) bodies: usize,
    /// The maximum number of bodies of an address.
    pub(crate) per_address: usize,
    /// The maximum number of bytes of all bodies in memory.
    pub(crate) bytes: usize,
}

/// The bodies that are still arriving.
///
/// Bodies that arrive with the head of their request are not counted.
#[derive(Debug)]
pub(crate) struct PendingBodies {
    bounds: PendingBounds,
    /// The bytes in memory, including complete bodies whose requests wait for a permit.
    bytes: AtomicUsize,
    registry: Mutex<Registry>,
    given_up: LogThrottle,
}

impl PendingBodies {
    pub(crate) fn new(bounds: PendingBounds) -> Arc<Self> {
        let given_up = LogThrottle::every(BETWEEN_LINES);
        Arc::new(Self {
            bounds,
            bytes: AtomicUsize::new(0),
            registry: Mutex::default(),
            given_up,
        })
    }

    /// Registers the body of a client at an address, if necessary in place of another body.
    pub(in crate::http) fn register(self: &Arc<Self>, address: Option<IpAddr>) -> PendingBody {
        let body = PendingBody::new(self, address);
        let mut registry = self.lock();
        if registry.count_of(address) >= self.bounds.per_address {
            self.give_up(registry.take_slowest_of(address), Reason::Address);
        } else if registry.len() >= self.bounds.bodies {
            self.give_up(registry.take_slowest(address), Reason::Service);
        }

        registry.add(body.share());

        drop(registry);

        body
    }

    /// Adds bytes in memory.
    fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Beyond the limit of bytes, drops bodies until the others fit.
    fn bound_bytes(&self) {
        if !self.is_over() {
            return;
        }

        let mut registry = self.lock();
        while self.is_over()
            && let Some(victim) = registry.take_largest()
        {
            // Subtracted before the task of the victim drops them: until then, every other body
            // that grows would cost one more victim.
            self.remove_bytes(victim.take_bytes());
            self.give_up(Some(victim), Reason::Service);
        }
    }

    /// Whether more bytes are in memory than the limit.
    fn is_over(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.bounds.bytes
    }

    /// Subtracts bytes that are no longer in memory, or whose requests now run.
    fn remove_bytes(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn give_up(&self, victim: Option<Arc<pending_body::Share>>, reason: Reason) {
        let Some(victim) = victim else { return };
        victim.give_up(reason);
        let (address, bounds) = (victim.address(), self.bounds);
        self.given_up.log(move |times| {
            tracing::warn!(
                times,
                ?address,
                bodies = bounds.bodies,
                per_address = bounds.per_address,
                bytes = bounds.bytes,
                "too many or too large request bodies are arriving: aborted the slowest or \
                 largest (SVC_MAX_BODIES, SVC_MAX_BODIES_PER_ADDRESS, SVC_MAX_BODIES_SIZE)"
            );
        });
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
