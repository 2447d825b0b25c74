//! The list of live connections.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use slab::Slab;

use super::SubscriptionsConfig;
#[cfg(feature = "auth")]
use super::check_limits::CheckLimits;
#[cfg(feature = "auth")]
use super::live_user::LiveUser;
use super::notes::{LongLived, Notes};
use super::watched::Watched;
#[cfg(feature = "auth")]
use super::watched_user::WatchedUser;
use crate::rate_limit::AddressRule;

/// The live connections of a service.
#[derive(Debug)]
pub(crate) struct LiveConnections {
    pub(in crate::http) config: SubscriptionsConfig,
    /// The rule that determines the addresses of clients.
    pub(in crate::http) addresses: AddressRule,
    #[cfg(feature = "auth")]
    pub(super) revocation: Option<svc_auth::TokenRevocationService>,
    /// The limits on checks of users.
    #[cfg(feature = "auth")]
    pub(in crate::http) checks: Arc<CheckLimits>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) connections: Slab<Watched>,
    /// The number of connections of each user.
    users: HashMap<Arc<str>, u32>,
    /// The number of connections at each address that are not counted for a user.
    addresses: HashMap<IpAddr, u32>,
    /// Whether a task watches the connections.
    pub(super) is_watched: bool,
}

/// The error of a connection beyond a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Full {
    /// The service has reached its limit.
    Service,
    /// Its headers exceed the bytes that a connection may keep.
    Head,
    /// The clients at the address have reached their common limit.
    Address,
    /// The user has reached the limit of a user.
    #[cfg(feature = "auth")]
    User,
}

impl LiveConnections {
    /// Creates an empty list.
    pub(crate) fn new(
        config: SubscriptionsConfig,
        addresses: AddressRule,
        #[cfg(feature = "auth")] revocation: Option<svc_auth::TokenRevocationService>,
    ) -> Arc<Self> {
        let config = config.bounded();
        Arc::new(Self {
            #[cfg(feature = "auth")]
            checks: Arc::new(CheckLimits::new(&config)),
            config,
            addresses,
            #[cfg(feature = "auth")]
            revocation,
            open: Mutex::default(),
        })
    }

    /// Takes a seat for a connection, which counts for an address until it is counted for a user.
    /// Returns also whether a task already watches the connections.
    ///
    /// # Errors
    /// When the service or the address has reached its limit.
    pub(super) fn take_seat(
        self: &Arc<Self>,
        address: Option<IpAddr>,
    ) -> Result<(Seat, bool), Full> {
        let mut open = self.lock();
        if open.connections.len()
            >= usize::try_from(self.config.max_connections).unwrap_or(usize::MAX)
        {
            return Err(Full::Service);
        }

        let most = self.config.max_connections_per_address;
        let address = address.filter(|_| most > 0);
        if let Some(address) = address {
            add(&mut open.addresses, address, most).map_err(|Most| Full::Address)?;
        }

        let notes = Arc::<Notes>::default();
        let key = open
            .connections
            .insert(Watched::new(notes.clone(), Instant::now()));

        // Set under the lock, so that of two concurrent first connections only one starts the task.
        let is_watched = std::mem::replace(&mut open.is_watched, true);

        Ok((
            Seat {
                list: self.clone(),
                key,
                notes,
                address,
                user: None,
            },
            is_watched,
        ))
    }

    /// Whether the list is empty.
    #[cfg(all(feature = "websocket", any(test, fuzzing)))]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().connections.is_empty()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the list, which is released on drop.
#[derive(Debug)]
pub(in crate::http) struct Seat {
    list: Arc<LiveConnections>,
    key: usize,
    notes: Arc<Notes>,
    address: Option<IpAddr>,
    user: Option<Arc<str>>,
}

impl Seat {
    /// Returns the handle for the server.
    pub(in crate::http) fn long_lived(&self) -> LongLived {
        LongLived(Arc::downgrade(&self.notes))
    }

    /// Counts the connection for a user, and no longer for its address.
    ///
    /// # Errors
    /// When the user has reached the limit of a user.
    #[cfg(feature = "auth")]
    pub(in crate::http) fn of_user(&mut self, user: &str) -> Result<(), Full> {
        let mut open = self.list.lock();

        // Connections of a user share one copy of the name.
        let user = open
            .users
            .get_key_value(user)
            .map_or_else(|| user.into(), |(known, _)| known.clone());
        add(
            &mut open.users,
            user.clone(),
            self.list.config.max_connections_per_user,
        )
        .map_err(|Most| Full::User)?;

        self.user = Some(user);
        if let Some(address) = self.address.take() {
            remove(&mut open.addresses, &address);
        }

        Ok(())
    }

    /// Ends the connection when the token ends.
    #[cfg(feature = "auth")]
    pub(in crate::http) fn until_end_of(&self, token: Option<&Arc<svc_auth::Verified>>) {
        if let Some(watched) = self.list.lock().connections.get_mut(self.key) {
            watched.tokens.current = token.cloned();
        }
    }

    /// Sets the user that is checked from time to time, or whose time ends because a layer
    /// has identified it. Returns the user if it is to be checked.
    #[cfg(feature = "auth")]
    pub(in crate::http) fn watch_user(&self, user: Option<Box<LiveUser>>) -> Option<Box<LiveUser>> {
        let config = &self.list.config;
        let watch = user.as_ref().and_then(|user| {
            let spread = |longest| WatchedUser::spread(longest, self.key);
            let interval = user.is_checked().then(|| spread(config.user_interval));
            let max_age = config.user_max_age.filter(|_| user.is_given());
            WatchedUser::new(interval, max_age.map(spread), Instant::now())
        });

        if let Some(watched) = self.list.lock().connections.get_mut(self.key) {
            watched.watch_user(watch);
        }

        user.filter(|user| user.is_checked())
    }

    /// Checks the user again soon, after a check that failed.
    #[cfg(feature = "auth")]
    pub(in crate::http) fn retry_check(&self) {
        let time = Instant::now() + self.list.checks.retry();
        let mut open = self.list.lock();
        let watched = open.connections.get_mut(self.key);
        if let Some(user) = watched.and_then(|watched| watched.user.as_mut()) {
            user.check_at(time);
        }
    }

    /// Ends operations when the earlier tokens that they run under end.
    #[cfg(all(feature = "auth", feature = "websocket"))]
    pub(in crate::http) fn watch_earlier(&self, tokens: Vec<Arc<svc_auth::Verified>>) {
        if let Some(watched) = self.list.lock().connections.get_mut(self.key) {
            watched.tokens.earlier = tokens.into_iter().map(|token| (token, None)).collect();
        }
    }

    /// Returns the earlier tokens that have ended since the last call, and their endings.
    #[cfg(all(feature = "auth", feature = "websocket"))]
    pub(in crate::http) fn ended_tokens(&self) -> Vec<(Arc<svc_auth::Verified>, super::Ending)> {
        let mut open = self.list.lock();
        open.connections
            .get_mut(self.key)
            .map(|watched| watched.tokens.take_ended())
            .unwrap_or_default()
    }
}

impl Deref for Seat {
    type Target = Notes;

    fn deref(&self) -> &Notes {
        &self.notes
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.list.lock();
        open.connections.remove(self.key);
        if let Some(user) = &self.user {
            remove(&mut open.users, user);
        }

        if let Some(address) = &self.address {
            remove(&mut open.addresses, address);
        }

        // A burst of connections would otherwise keep its memory until the process ends.
        if open.connections.is_empty() {
            open.connections.shrink_to_fit();
        }

        // Unlocked first: the held value may be of any type, and its destructor must not run under
        // the lock of all connections.
        drop(open);

        self.notes.end();
    }
}

/// The error of a count at its limit.
struct Most;

/// Increments a count, unless it is at its limit.
fn add<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: K, most: u32) -> Result<(), Most> {
    // An entry exists only while it counts at least one, also under a limit of 0.
    match counts.entry(key) {
        Entry::Occupied(mut count) if *count.get() < most => *count.get_mut() += 1,
        Entry::Vacant(free) if most > 0 => {
            free.insert(1);
        }
        Entry::Occupied(_) | Entry::Vacant(_) => return Err(Most),
    }

    Ok(())
}

/// Decrements a count.
fn remove<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_connection_leaves_no_count() {
        let mut counts = HashMap::new();
        assert!(add(&mut counts, "ada", 0).is_err());
        assert!(counts.is_empty(), "{counts:?}");
        assert!(add(&mut counts, "ada", 1).is_ok() && add(&mut counts, "ada", 1).is_err());
        assert_eq!(counts["ada"], 1);
        remove(&mut counts, &"ada");
        assert!(counts.is_empty(), "{counts:?}");
    }
}
