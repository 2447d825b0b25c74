//! The seats of connections: a total limit, a limit for each address, and a small reserve for
//! probes and newcomers.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use super::{BETWEEN_LINES, limit};
use crate::app::HttpConfig;
use crate::rate_limit::network_of;
use svc_core::log_throttle::LogThrottle;

/// The minimum and maximum size of the reserve beyond the limit, for probes and for newcomers that
/// wait until another connection is closed.
const RESERVE: [usize; 2] = [4, 32];
/// The minimum limit of an address, unless the total limit is lower.
const MIN_PER_ADDRESS: usize = 64;

/// The seats of a server.
#[derive(Debug)]
pub(super) struct Seats {
    permits: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    /// The maximum number of requests that may wait on connections of the reserve, so that some are
    /// left for probes.
    most_waiting: usize,
    most: usize,
    per_address: usize,
    addresses: Arc<Addresses>,
    /// The connections without a permit, and the requests that wait for one on them.
    limited: Arc<AtomicUsize>,
    waiting: Arc<AtomicUsize>,
    full: LogThrottle,
    crowded: LogThrottle,
}

/// The number of connections of each address; an IPv6 network counts as one address.
#[derive(Debug, Default)]
struct Addresses(Mutex<HashMap<IpAddr, usize>>);

impl Seats {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let most = limit::max_connections(config.max_connections).min(Semaphore::MAX_PERMITS);
        let per_address = match config.max_connections_per_address {
            Some(per_address) => usize::try_from(per_address).unwrap_or(usize::MAX),
            None => (most / 2).max(MIN_PER_ADDRESS),
        };

        // Few if the process may open few files.
        let reserve = (most / 8).clamp(RESERVE[0], RESERVE[1]);
        Self {
            permits: Arc::new(Semaphore::new(most)),
            reserve: Arc::new(Semaphore::new(reserve)),
            most_waiting: reserve / 2,
            most,
            per_address: per_address.clamp(1, most),
            addresses: Arc::default(),
            limited: Arc::default(),
            waiting: Arc::default(),
            full: LogThrottle::every(BETWEEN_LINES),
            crowded: LogThrottle::every(BETWEEN_LINES),
        }
    }

    /// Waits until one more connection may be accepted.
    pub(super) async fn reserve(&self) -> OwnedSemaphorePermit {
        match self.reserve.clone().acquire_owned().await {
            Ok(permit) => permit,
            // It is never closed.
            Err(_) => std::future::pending().await,
        }
    }

    /// Takes a seat for an accepted connection.
    pub(super) fn take(&mut self, reserved: OwnedSemaphorePermit, peer: IpAddr) -> Arc<Seat> {
        let address = network_of(peer);
        self.addresses.add(address);
        let permit = self.permits.clone().try_acquire_owned().ok();
        let is_limited = permit.is_none();
        if is_limited {
            let connections = self.most;
            self.full.log(move |times| {
                tracing::warn!(
                    connections,
                    times,
                    "connection limit reached (SVC_HTTP_MAX_CONNECTIONS): closing the longest \
                     idle connections for new clients"
                );
            });
        }

        let seat = Arc::new(Seat {
            address,
            addresses: self.addresses.clone(),
            permit: Mutex::new(Some(permit.unwrap_or(reserved))),
            has_permit: Notify::new(),
            is_limited: AtomicUsize::new(usize::from(is_limited)),
            limited: self.limited.clone(),
            waiting: self.waiting.clone(),
            most_waiting: self.most_waiting,
            promotion: Mutex::default(),
        });

        if is_limited {
            self.limited.fetch_add(1, Ordering::Relaxed);
            seat.be_promoted(self.permits.clone());
        }

        seat
    }

    /// Whether an address exceeds its limit of connections, if that limit is below the total limit.
    pub(super) fn is_crowded(&self, address: IpAddr) -> bool {
        self.per_address < self.most && self.addresses.count(address) > self.per_address
    }

    /// Logs that a connection of an address is closed at once, because all its other connections
    /// are in use.
    pub(super) fn refuse(&mut self, address: IpAddr) {
        let connections = self.per_address;
        self.crowded.log(move |times| {
            tracing::warn!(
                %address,
                times,
                connections,
                "connection limit of an address reached (SVC_HTTP_MAX_CONNECTIONS_PER_ADDRESS): \
                 closing its further connections"
            );
        });
    }

    /// The number of connections that wait for others to be closed.
    pub(super) fn wanted(&self) -> usize {
        self.limited.load(Ordering::Relaxed)
    }

    /// The number of connections to close at once; enough to be worth a scan of all connections.
    pub(super) fn batch(&self) -> usize {
        self.wanted().max(1 + self.most / 256)
    }

    /// The number of connections of an address.
    pub(super) fn count(&self, address: IpAddr) -> usize {
        self.addresses.count(address)
    }
}

/// The seat of a connection, until its socket is closed.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) address: IpAddr,
    addresses: Arc<Addresses>,
    /// A permit within the limit, or one of the reserve.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
    has_permit: Notify,
    /// 1 while the permit is one of the reserve.
    is_limited: AtomicUsize,
    limited: Arc<AtomicUsize>,
    waiting: Arc<AtomicUsize>,
    most_waiting: usize,
    promotion: Mutex<Option<AbortHandle>>,
}

impl Seat {
    /// Whether the connection is beyond the limit: only probes are answered at once.
    pub(super) fn is_limited(&self) -> bool {
        self.is_limited.load(Ordering::Acquire) == 1
    }

    /// Waits until the connection is within the limit. Returns whether that happened in time.
    pub(super) async fn until_within(&self, time: Duration) -> bool {
        // Created before the check: `notify_waiters` reaches only futures that already exist.
        let has_permit = self.has_permit.notified();
        if !self.is_limited() {
            return true;
        }

        let _waits = Waits(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.most_waiting {
            return false;
        }

        tokio::time::timeout(time, has_permit).await.is_ok() || !self.is_limited()
    }

    /// Starts the task that waits for a permit within the limit.
    fn be_promoted(self: &Arc<Self>, permits: Arc<Semaphore>) {
        // The task must not keep the seat: dropping the seat ends the task.
        let seat = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            let Ok(permit) = permits.acquire_owned().await else {
                return;
            };
            if let Some(seat) = seat.upgrade() {
                // The replaced permit returns to the reserve, for the next newcomer.
                *seat.permit.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
                seat.no_longer_limited();
                seat.has_permit.notify_waiters();
            }
        });

        *self
            .promotion
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
    }

    fn no_longer_limited(&self) {
        if self.is_limited.swap(0, Ordering::AcqRel) == 1 {
            self.limited.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.no_longer_limited();
        self.addresses.remove(self.address);

        if let Some(promotion) = self
            .promotion
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            promotion.abort();
        }
    }
}

/// A request that waits for a seat.
struct Waits<'a>(&'a AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Addresses {
    fn add(&self, address: IpAddr) {
        *self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(address)
            .or_default() += 1;
    }

    fn count(&self, address: IpAddr) -> usize {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&address)
            .copied()
            .unwrap_or_default()
    }

    fn remove(&self, address: IpAddr) {
        let mut addresses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = addresses.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                addresses.remove(&address);
            }
        }
    }
}
