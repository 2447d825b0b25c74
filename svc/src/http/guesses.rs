//! Wrong passwords, limited per address and time window.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::rate_limit::network_of;

/// The maximum number of wrong passwords per address and window.
const MOST: u32 = 30;
const WINDOW: Duration = Duration::from_secs(60);
/// The maximum number of addresses with their own count; further addresses share one.
const ADDRESSES: usize = 4_096;

/// The wrong passwords of each address; an IPv6 network counts as one address, and so do all clients without an
/// address.
#[derive(Debug, Default)]
pub(super) struct Guesses(Mutex<HashMap<Option<IpAddr>, Window>>);

/// The wrong passwords of an address since the first one of the window.
#[derive(Debug, Clone, Copy)]
struct Window {
    since: Instant,
    count: u32,
}

impl Window {
    /// Returns the time until the window ends, if it has not ended.
    fn left(&self, now: Instant) -> Option<Duration> {
        WINDOW.checked_sub(now.saturating_duration_since(self.since)).filter(|left| !left.is_zero())
    }
}

impl Guesses {
    /// Returns the time that an address has to wait; `None` if it may guess.
    pub(super) fn wait(&self, address: Option<IpAddr>, now: Instant) -> Option<Duration> {
        let windows = self.lock();
        let window = windows.get(&key(&windows, address))?;
        window.left(now).filter(|_| window.count >= MOST)
    }

    /// Counts a wrong password.
    pub(super) fn count(&self, address: Option<IpAddr>, now: Instant) {
        let mut windows = self.lock();
        if windows.len() >= ADDRESSES {
            windows.retain(|_, window| window.left(now).is_some());
        }
        let key = key(&windows, address);
        let window = windows.entry(key).or_insert(Window { since: now, count: 0 });
        if window.left(now).is_none() {
            *window = Window { since: now, count: 0 };
        }
        window.count += 1;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<IpAddr>, Window>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the key of an address: its own, or the shared one if there is no room.
fn key(windows: &HashMap<Option<IpAddr>, Window>, address: Option<IpAddr>) -> Option<IpAddr> {
    let address = address.map(network_of);
    if windows.len() < ADDRESSES || windows.contains_key(&address) { address } else { None }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn an_address_waits_after_thirty_wrong_passwords_until_its_window_ends() {
        let (guesses, start) = (Guesses::default(), Instant::now());
        let [one, other] = [1, 2].map(|last| Some(IpAddr::from(Ipv4Addr::new(192, 0, 2, last))));
        for _ in 0..MOST {
            assert_eq!(guesses.wait(one, start), None);
            guesses.count(one, start);
        }
        assert_eq!([guesses.wait(one, start), guesses.wait(other, start)], [Some(WINDOW), None]);
        assert_eq!(guesses.wait(one, start + WINDOW), None);
        guesses.count(one, start + WINDOW);
        assert_eq!(guesses.wait(one, start + WINDOW), None);
    }

    #[test]
    fn the_addresses_are_bounded() {
        let (guesses, start) = (Guesses::default(), Instant::now());
        for number in 0..100_000_u32 {
            guesses.count(Some(Ipv4Addr::from(number).into()), start);
        }
        assert!(guesses.lock().len() <= ADDRESSES + 1);
        assert!(guesses.wait(Some(Ipv4Addr::from(99_999).into()), start).is_some(), "strangers share a count");
    }
}
