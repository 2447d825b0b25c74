//! The applications of this process and their connection pools, whose state is read on demand.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, Weak};

/// The state of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// The name of the pool.
    pub pool: &'static str,
    /// The number of connections in use.
    pub active: u32,
    /// The number of open connections that are idle.
    pub idle: u32,
    /// The number of requests waiting for a connection; `None` if the pool does not report it.
    pub waiting: Option<u32>,
    /// The maximum number of connections.
    pub max: u32,
}

/// An application with its pools.
pub trait Pools: Send + Sync {
    /// The state of each pool.
    fn pools(&self) -> Vec<PoolStatus>;
}

static APPLICATIONS: Mutex<Vec<Weak<dyn Pools>>> = Mutex::new(Vec::new());

/// Whether one of the applications was created for production.
static PRODUCTION: AtomicBool = AtomicBool::new(false);

/// Registers an application. Its pools are reported as long as it exists.
pub fn application_made(application: Weak<dyn Pools>, is_development: bool) {
    // Never unset: one application in production is enough.
    PRODUCTION.fetch_or(!is_development, Ordering::Relaxed);
    let mut applications = APPLICATIONS.lock().unwrap_or_else(PoisonError::into_inner);

    // Without this, the list would grow with each application that a test program creates.
    applications.retain(|known| known.strong_count() > 0);
    applications.push(application);
}

/// Whether an application of this process was created for production.
pub fn in_production() -> bool {
    PRODUCTION.load(Ordering::Relaxed)
}

/// Returns the state of all pools; pools of the same name are added up.
#[cfg(feature = "metrics")]
pub(crate) fn pools() -> Vec<PoolStatus> {
    // The list is copied, so that the last reference to an application is not dropped under the
    // lock.
    let applications = APPLICATIONS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let mut all: Vec<PoolStatus> = Vec::new();
    for status in applications
        .iter()
        .filter_map(Weak::upgrade)
        .flat_map(|application| application.pools())
    {
        match all.iter_mut().find(|known| known.pool == status.pool) {
            Some(known) => known.add(status),
            None => all.push(status),
        }
    }

    all
}

#[cfg(feature = "metrics")]
impl PoolStatus {
    fn add(&mut self, other: Self) {
        self.active += other.active;
        self.idle += other.idle;
        self.max += other.max;

        // The sum is unknown if one of the pools does not report its number.
        self.waiting = self
            .waiting
            .zip(other.waiting)
            .map(|(one, other)| one + other);
    }
}
