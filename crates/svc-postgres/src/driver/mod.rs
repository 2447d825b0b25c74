//! The driver for planned reads: our own connection pool over `tokio-postgres`.
//!
//! - A statement has its connection to itself. A second statement sent behind it would have to wait
//!   for it, could be hit by its cancellation, and would see its session variables. Statements are
//!   pipelined only where one request needs several.
//! - A request reads and writes the socket in its own task. A task per connection, as
//!   `tokio-postgres` proposes, costs two task switches per statement.
//! - No ping: a read that meets a dead connection is sent on another one. A write checks its
//!   connection first, which costs no round trip, and is sent once.
//! - A statement without a response by its deadline is abandoned together with its connection, and
//!   its slot becomes free again.

mod config;
mod connection;
mod dedicated;
mod error;
mod last_change;
mod listening;
mod pool;
mod pooled;
#[cfg(feature = "sqlx")]
#[cfg_attr(not(unix), path = "no_proxy.rs")]
mod proxy;
#[cfg(test)]
mod tests;
mod transaction;
mod variable;
mod wire;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

pub use connection::Commit;
pub(super) use connection::EachResult;
#[cfg(feature = "sqlx")]
pub(super) use connection::RESET_OF_SQLX;
pub use dedicated::Columns;
pub(super) use dedicated::{DedicatedConnection, FromRow};
#[cfg(feature = "sqlx")]
pub(crate) use error::shows_change;
pub use error::{DriverError, RetryCause};
pub(super) use last_change::LastChange;
pub use listening::ListeningConnection;
pub use pool::Bounds;
#[cfg(feature = "sqlx")]
pub(crate) use proxy::Proxy;
pub use transaction::{AtomicTransaction, Isolation, OpenTransaction};

use self::config::Target;
use self::pool::Pool;
use super::connect::ConnectConfig;
use super::{RowSink, Session, Statement};
use svc_core::task::boxed::boxed_rare;
use svc_telemetry::metrics::PoolStatus;

/// The number of dead connections, beyond the pool size, that a ping tolerates.
const TRIES: u32 = 2;

/// Runs planned reads and calls.
pub(crate) struct Driver {
    pool: Arc<Pool>,
    /// For statements on the catalog.
    catalog: Target,
}

impl Driver {
    /// Connects on first use.
    pub(super) fn new(connect: &ConnectConfig, bounds: Bounds) -> Self {
        let catalog = Target::new(&connect.clone().for_catalog());
        Self {
            pool: Pool::new(Target::new(connect), bounds, pool::TICK),
            catalog,
        }
    }

    /// Sets how many bytes of SQL each connection keeps prepared.
    pub(crate) fn statement_cache(mut self, bytes: usize) -> Self {
        // A new pool is not shared yet.
        if let Some(pool) = Arc::get_mut(&mut self.pool) {
            pool.target.statement_cache = bytes;
        }
        self
    }

    /// Sets whether sessions are reset after statements that may have altered them.
    pub(crate) fn reset_session(mut self, reset: bool) -> Self {
        if let Some(pool) = Arc::get_mut(&mut self.pool) {
            pool.target.reset_session = reset;
        }
        self
    }

    /// Runs a read on its own connection. Dropping the future also ends the statement. A connection
    /// that died in the pool is replaced; once any part of the response has arrived, a read is not
    /// sent again.
    pub(super) async fn read(
        &self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        // Each dead connection leaves the pool with one fewer, and a new connection cannot have
        // died in it.
        for _ in 0..=self.pool.size {
            // Nearly always an open connection, without a future that waits.
            let slot = match self.pool.take() {
                Ok(slot) if !slot.is_vacant() => slot,
                taken => boxed_rare(|| self.pool.acquired(taken)).await?,
            };

            match slot.read(session, statement, sink).await {
                Err(DriverError::ClosedIdle { .. }) => self.pool.close_dead(),
                result => return result,
            }
        }

        Err(DriverError::Closed)
    }

    /// Runs a read without session variables, like [`read`](Self::read), but only if a connection is
    /// free or may be opened; otherwise returns `None`.
    pub(super) async fn read_if_free(
        &self,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Option<Result<(), DriverError>> {
        for _ in 0..=self.pool.size {
            let slot = self.pool.acquire_free().await?;
            match slot.read(Session::none(), statement, sink).await {
                Err(DriverError::ClosedIdle { .. }) => self.pool.close_dead(),
                result => return Some(result),
            }
        }

        None
    }

    /// Runs pipelined reads on one connection and returns a result for each. A connection that died
    /// in the pool is replaced.
    ///
    /// # Errors
    /// When the connection fails or a statement cannot be prepared; there are no results at all
    /// then.
    pub(super) async fn read_each(
        &self,
        reads: &[(&Session, &Statement)],
    ) -> Result<Vec<EachResult>, DriverError> {
        for _ in 0..=self.pool.size {
            match self.pool.acquire().await?.read_each(reads).await {
                Err(DriverError::ClosedIdle { .. }) => self.pool.close_dead(),
                results => return results,
            }
        }
        Err(DriverError::Closed)
    }

    /// Makes one round trip. Waits up to `patience` for the response, and longer than that for a
    /// connection only if `answers` reports that the database responds.
    ///
    /// # Errors
    /// [`DriverError::Unanswered`] when the database does not respond.
    pub(crate) async fn ping(
        &self,
        patience: Duration,
        answers: impl Future<Output = bool>,
    ) -> Result<(), DriverError> {
        let statement = Statement::new("SELECT 1", Vec::new());
        let (mut answers, mut left) = (Some(answers), self.pool.size.saturating_add(TRIES));
        loop {
            // Pinned outside of the time-out, so that a longer wait keeps its place in the queue.
            let mut acquiring = pin!(self.pool.acquire());
            let slot = match timeout(patience, acquiring.as_mut()).await {
                Ok(slot) => slot?,
                Err(_) => {
                    // A pool that is merely busy is no outage, so the watcher's own connection
                    // decides whether the wait goes on.
                    if let Some(answers) = answers.take()
                        && !answers.await
                    {
                        return Err(DriverError::Unanswered);
                    }
                    acquiring.await?
                }
            };

            let mut rows = Vec::new();
            match timeout(patience, slot.read(Session::none(), &statement, &mut rows)).await {
                // One closed connection says nothing about the others.
                Ok(Err(error)) if error.is_connection() && left > 0 => {
                    left -= 1;
                    self.pool.close_dead();
                }
                Ok(result) => return result,
                Err(_) => return Err(DriverError::Unanswered),
            }
        }
    }

    /// Closes the idle connections now, and the ones in use when they are released.
    pub(super) fn retire_connections(&self) {
        self.pool.retire_connections();
    }

    /// The settings for each transaction, if a pooler does not keep the session's settings.
    #[cfg(feature = "sqlx")]
    pub(super) fn transaction_settings(&self) -> Option<&str> {
        let target = &self.pool.target;

        // Both lead to the same pooler, and either may be the first to have connected.
        (target.is_pooled() || self.catalog.is_pooled()).then(|| target.transaction_settings())
    }

    /// Notified when a view or function may have changed since its statement was written.
    pub(super) fn views_changed(&self) -> &Arc<Notify> {
        &self.pool.views_changed
    }

    /// The state of the pool.
    pub(crate) fn status(&self) -> PoolStatus {
        let [idle, unopened, waiting] = self
            .pool
            .counts()
            .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        let active = self.pool.size.saturating_sub(idle).saturating_sub(unopened);
        PoolStatus {
            pool: "svc",
            active,
            idle,
            waiting: Some(waiting),
            max: self.pool.size,
        }
    }

    /// The maximum number of connections.
    pub(crate) fn max_connections(&self) -> u32 {
        self.pool.size
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver")
            .field("max_connections", &self.pool.size)
            .finish_non_exhaustive()
    }
}
