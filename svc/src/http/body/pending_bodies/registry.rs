//! The bodies that are arriving, by the addresses of their clients.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use super::pending_body::Share;

/// The bodies by address. Clients without an address share one entry.
#[derive(Debug, Default)]
pub(super) struct Registry {
    addresses: HashMap<Option<IpAddr>, Vec<Arc<Share>>>,
    len: usize,
}

impl Registry {
    /// Returns the number of all bodies.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of bodies of an address.
    pub(super) fn count_of(&self, address: Option<IpAddr>) -> usize {
        self.addresses.get(&address).map_or(0, Vec::len)
    }

    pub(super) fn add(&mut self, body: Arc<Share>) {
        self.len += 1;
        self.addresses.entry(body.address()).or_default().push(body);
    }

    /// Removes a body, unless it has already been removed.
    pub(super) fn remove(&mut self, body: &Arc<Share>) {
        let Some(bodies) = self.addresses.get(&body.address()) else {
            return;
        };
        if let Some(index) = bodies.iter().position(|known| Arc::ptr_eq(known, body)) {
            self.take(body.address(), index);
        }
    }

    /// Removes the slowest body of an address.
    pub(super) fn take_slowest_of(&mut self, address: Option<IpAddr>) -> Option<Arc<Share>> {
        let now = Instant::now();
        let bodies = self.addresses.get(&address)?.iter().enumerate();
        let (index, _) = bodies.min_by_key(|(_, body)| body.speed(now))?;
        self.take(address, index)
    }

    /// Removes the slowest body of the address with the most, including the newcomer.
    pub(super) fn take_slowest(&mut self, newcomer: Option<IpAddr>) -> Option<Arc<Share>> {
        let most = self.addresses.values().map(Vec::len).max()?;

        // The newcomer counts for its address: if that makes it the largest one, it replaces a body
        // of the same address, and other addresses lose nothing.
        if self.count_of(newcomer) + 1 > most && self.count_of(newcomer) > 0 {
            return self.take_slowest_of(newcomer);
        }

        // If several addresses have the most, picks the one with the slowest body.
        let now = Instant::now();
        let slowest = |bodies: &[Arc<Share>]| bodies.iter().map(|body| body.speed(now)).min();
        let candidates = self
            .addresses
            .iter()
            .filter(|(_, bodies)| bodies.len() == most);
        let (address, _) = candidates.min_by_key(|(_, bodies)| slowest(bodies))?;
        let address = *address;

        self.take_slowest_of(address)
    }

    /// Removes the largest body of the address with the most bytes in memory, if there are any.
    pub(super) fn take_largest(&mut self) -> Option<Arc<Share>> {
        let bytes = |bodies: &[Arc<Share>]| bodies.iter().map(|body| body.bytes()).sum::<usize>();
        let (address, bodies) = self
            .addresses
            .iter()
            .max_by_key(|(_, bodies)| bytes(bodies))?;
        let (index, _) = bodies
            .iter()
            .enumerate()
            .filter(|(_, body)| body.bytes() > 0)
            .max_by_key(|(_, body)| body.bytes())?;
        let address = *address;

        self.take(address, index)
    }

    fn take(&mut self, address: Option<IpAddr>, index: usize) -> Option<Arc<Share>> {
        let bodies = self.addresses.get_mut(&address)?;
        let body = bodies.swap_remove(index);
        if bodies.is_empty() {
            self.addresses.remove(&address);
        }
        self.len -= 1;
        Some(body)
    }
}
