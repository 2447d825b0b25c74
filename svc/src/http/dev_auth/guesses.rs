//! Wrong passwords, limited per address and time window.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::rate_limit::network_of;

/// The maximum number of wrong passwords per address and window.
const MAX_GUESSES: u32 = 30;
const WINDOW: Duration = Duration::from_secs(60);
/// The maximum number of addresses with their own count. Further addresses take over the smallest
/// ones, and share one if all addresses have to wait.
const ADDRESSES: usize = 4_096;

/// The wrong passwords of each address; an IPv6 network counts as one address, and so do all
/// clients without an address.
#[derive(Debug, Default)]
pub(super) struct Guesses(Mutex<HashMap<Option<IpAddr>, Window>>);

/// The wrong passwords of an address since the first one of the window.
#[derive(Debug, Clone, Copy)]
struct Window {
    since: Instant,
    count: u32,
}

impl Window {
    /// Whether the address has to wait.
    fn is_used_up(&self, now: Instant) -> bool {
        self.count >= MAX_GUESSES && self.left(now).is_some()
    }

    /// Returns the time until the window ends, if it has not ended.
    fn left(&self, now: Instant) -> Option<Duration> {
        WINDOW
            .checked_sub(now.saturating_duration_since(self.since))
            .filter(|left| !left.is_zero())
    }
}

impl Guesses {
    /// Returns the time that an address has to wait; `None` if it may guess.
    pub(super) fn wait(&self, address: Option<IpAddr>, now: Instant) -> Option<Duration> {
        let windows = self.lock();
        let window = windows.get(&key(&windows, address, now))?;
        window.left(now).filter(|_| window.count >= MAX_GUESSES)
    }

    /// Counts a wrong password.
    pub(super) fn count(&self, address: Option<IpAddr>, now: Instant) {
        let mut windows = self.lock();
        let key = key(&windows, address, now);
        let known = windows
            .get(&key)
            .copied()
            .or_else(|| make_room(&mut windows, now));
        let before = known
            .filter(|window| window.left(now).is_some())
            .unwrap_or(Window {
                since: now,
                count: 0,
            });

        windows.insert(
            key,
            Window {
                count: before.count + 1,
                ..before
            },
        );
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<IpAddr>, Window>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the key of an address: its own, or the shared one if there is no room and all addresses
/// have to wait.
fn key(
    windows: &HashMap<Option<IpAddr>, Window>,
    address: Option<IpAddr>,
    now: Instant,
) -> Option<IpAddr> {
    let address = address.map(network_of);
    let has_room = windows.len() < ADDRESSES || windows.contains_key(&address);
    let may_displace = || {
        windows
            .iter()
            .any(|(known, window)| known.is_some() && !window.is_used_up(now))
    };

    if has_room || may_displace() {
        address
    } else {
        None
    }
}

/// Makes room for another address. If necessary, removes the address with the fewest wrong
/// passwords and returns its window for the newcomer: addresses that displace each other must not
/// get more guesses that way.
fn make_room(windows: &mut HashMap<Option<IpAddr>, Window>, now: Instant) -> Option<Window> {
    if windows.len() < ADDRESSES {
        return None;
    }

    windows.retain(|_, window| window.left(now).is_some());
    if windows.len() < ADDRESSES {
        return None;
    }

    // An address that has to wait stays: otherwise a flood of other addresses would free it.
    let displaceable = windows
        .iter()
        .filter(|(address, window)| address.is_some() && window.count < MAX_GUESSES);
    let (least, _) = displaceable.min_by_key(|(_, window)| (window.count, window.since))?;
    let least = *least;

    windows.remove(&least)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn an_address_waits_after_thirty_wrong_passwords_until_its_window_ends() {
        let (guesses, start) = (Guesses::default(), Instant::now());
        let [one, other] = [1, 2].map(|last| Some(IpAddr::from(Ipv4Addr::new(192, 0, 2, last))));
        for _ in 0..MAX_GUESSES {
            assert_eq!(guesses.wait(one, start), None);
            guesses.count(one, start);
        }

        assert_eq!(
            [guesses.wait(one, start), guesses.wait(other, start)],
            [Some(WINDOW), None]
        );
        assert_eq!(guesses.wait(one, start + WINDOW), None);
        guesses.count(one, start + WINDOW);

        assert_eq!(guesses.wait(one, start + WINDOW), None);
    }

    #[test]
    fn a_flood_of_addresses_is_bounded_and_neither_frees_nor_locks_out_others() {
        let (guesses, start) = (Guesses::default(), Instant::now());
        let [limited, stranger] = [u32::MAX, u32::MAX - 1].map(of);
        (0..MAX_GUESSES).for_each(|_| guesses.count(limited, start));
        (0..10_000).for_each(|number| guesses.count(of(number), start));
        assert!(guesses.lock().len() <= ADDRESSES + 1);
        assert_eq!(
            [guesses.wait(limited, start), guesses.wait(stranger, start)],
            [Some(WINDOW), None]
        );
        guesses.count(stranger, start);

        assert_eq!(guesses.wait(stranger, start), None);
    }

    /// Each displaces the other, and has its guesses.
    #[test]
    fn addresses_that_displace_each_other_get_no_more_guesses() {
        let (guesses, start) = (Guesses::default(), Instant::now());
        let used_up = Window {
            since: start,
            count: MAX_GUESSES,
        };

        guesses
            .lock()
            .extend((1..4_096).map(|number| (of(number), used_up)));
        let guessed = (0..100).filter(|number| {
            let address = of(10_000 + number % 2);
            let may_guess = guesses.wait(address, start).is_none();
            guesses.count(address, start);
            may_guess
        });

        // Guesses in the last place, and guesses that all addresses without a place share.
        assert_eq!(guessed.count(), 60);
        assert_eq!(guesses.lock().len(), ADDRESSES + 1);

        assert_eq!(guesses.wait(of(20_000), start + WINDOW), None);
    }

    fn of(number: u32) -> Option<IpAddr> {
        Some(Ipv4Addr::from(number).into())
    }
}
