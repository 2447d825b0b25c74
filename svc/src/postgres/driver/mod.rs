//! The driver of planned reads: a pool of our own over `tokio-postgres`.
//!
//! - A statement has its connection to itself. Another one sent behind it would have to wait for it, could be hit by
//!   its cancellation, and would see its session variables. Statements are sent back to back, without waiting for the
//!   answer before, only where one request needs several.
//! - A request reads and writes the socket in its own task. A task for each connection, as `tokio-postgres` proposes,
//!   costs two switches of tasks a statement.
//! - No ping: a read that meets a connection that had died is sent on another one. A write looks at its connection
//!   first, which costs no round trip, and is sent once.
//! - A statement that is not answered by its deadline is given up with its connection, and its slot is free again.

mod config;
mod connection;
mod dedicated;
#[cfg(all(unix, feature = "sqlx"))]
mod dial;
mod error;
mod from_row;
mod listening;
mod pipeline;
mod pool;
mod pooled;
mod pooler;
#[cfg(feature = "sqlx")]
#[cfg_attr(not(unix), path = "no_proxy.rs")]
mod proxy;
mod session_state;
mod statement_cache;
#[cfg(all(unix, feature = "sqlx"))]
mod stream;
#[cfg(test)]
mod tests;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
#[cfg(all(test, unix, feature = "sqlx", feature = "tls"))]
mod tls_tests;
mod transaction;
mod variable;
mod watch;
mod wire;
mod write;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

pub(crate) use dedicated::Columns;
pub(super) use dedicated::DedicatedConnection;
pub(crate) use error::DriverError;
#[cfg(feature = "sqlx")]
pub(crate) use error::shows_change;
pub(super) use from_row::FromRow;
pub(crate) use listening::ListeningConnection;
pub(super) use pipeline::EachResult;
pub(crate) use pool::Bounds;
#[cfg(feature = "sqlx")]
pub(crate) use proxy::Proxy;
#[cfg(feature = "sqlx")]
pub(super) use session_state::RESET_OF_SQLX;
pub(crate) use transaction::{Isolation, OpenTransaction};
pub(crate) use write::Commit;

use self::config::Target;
use self::pool::Pool;
use super::connect::ConnectConfig;
use super::{RowSink, Session, Statement};
use crate::metrics::PoolStatus;

/// The number of connections, beyond those of the pool, that may die under a ping.
const TRIES: u32 = 2;

/// Runs planned reads and calls.
pub(crate) struct Driver {
    pool: Arc<Pool>,
    /// For statements about the catalogue.
    catalogue: Target,
}

impl Driver {
    /// Connects when it is first used.
    pub(super) fn new(connect: &ConnectConfig, bounds: Bounds) -> Self {
        let catalogue = Target::new(&connect.clone().for_catalogue());
        Self { pool: Pool::new(Target::new(connect), bounds, pool::TICK), catalogue }
    }

    /// Sets the bytes of SQL that each connection keeps prepared.
    pub(super) fn statement_cache(mut self, bytes: usize) -> Self {
        // Nobody else has a pool that was just made.
        if let Some(pool) = Arc::get_mut(&mut self.pool) {
            pool.target.statement_cache = bytes;
        }
        self
    }

    /// Sets whether sessions are reset after what may have altered them.
    pub(super) fn reset_session(mut self, reset: bool) -> Self {
        if let Some(pool) = Arc::get_mut(&mut self.pool) {
            pool.target.reset_session = reset;
        }
        self
    }

    /// Runs a read on a connection of its own. When the future is dropped, so is the statement. A connection that had
    /// died in the pool is replaced; once anything of it was answered, a read is not sent again.
    pub(super) async fn read(
        &self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        // Each that has died is one less; a new one cannot have died in the pool.
        for _ in 0..=self.pool.size {
            match self.pool.acquire().await?.read(session, statement, sink).await {
                Err(DriverError::ClosedIdle { .. }) => self.pool.close_dead(),
                result => return result,
            }
        }
        Err(DriverError::Closed)
    }

    /// Runs reads back to back on one connection; a result for each. One that has died in the pool is replaced.
    ///
    /// # Errors
    /// When the connection fails, or a statement cannot be prepared: there is no result for any of them.
    pub(super) async fn read_each(&self, reads: &[(&Session, &Statement)]) -> Result<Vec<EachResult>, DriverError> {
        for _ in 0..=self.pool.size {
            match self.pool.acquire().await?.read_each(reads).await {
                Err(DriverError::ClosedIdle { .. }) => self.pool.close_dead(),
                results => return results,
            }
        }
        Err(DriverError::Closed)
    }

    /// A round trip. An answer is waited for as long as `patience`; a connection for longer only if `answers` says
    /// that the database does.
    ///
    /// # Errors
    /// [`DriverError::Unanswered`] when the database does not answer.
    pub(super) async fn ping(
        &self,
        patience: Duration,
        answers: impl Future<Output = bool>,
    ) -> Result<(), DriverError> {
        let statement = Statement::new("SELECT 1", Vec::new());
        let (mut answers, mut left) = (Some(answers), self.pool.size.saturating_add(TRIES));
        loop {
            let mut acquiring = pin!(self.pool.acquire());
            let slot = match timeout(patience, acquiring.as_mut()).await {
                Ok(slot) => slot?,
                Err(_) => {
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
                // That this one was closed says nothing of the others.
                Ok(Err(error)) if error.is_connection() && left > 0 => {
                    left -= 1;
                    self.pool.close_dead();
                }
                Ok(result) => return result,
                Err(_) => return Err(DriverError::Unanswered),
            }
        }
    }

    /// Closes the connections that lie unused; those in use are closed when they come back.
    pub(super) fn retire_connections(&self) {
        self.pool.retire_connections();
    }

    /// The settings of each transaction, where a pooler does not keep those of the session.
    #[cfg(feature = "sqlx")]
    pub(super) fn transaction_settings(&self) -> Option<&str> {
        let target = &self.pool.target;
        (target.is_pooled() || self.catalogue.is_pooled()).then(|| target.transaction_settings())
    }

    /// Notified when a view or function may have changed since its statement was made.
    pub(super) fn views_changed(&self) -> &Arc<Notify> {
        &self.pool.views_changed
    }

    /// The state of the pool.
    pub(super) fn status(&self) -> PoolStatus {
        let [idle, vacant, waiting] = self.pool.counts().map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        let active = self.pool.size.saturating_sub(idle).saturating_sub(vacant);
        PoolStatus { pool: "svc", active, idle, waiting: Some(waiting), max: self.pool.size }
    }

    /// The most connections there can be.
    pub(super) fn max_connections(&self) -> u32 {
        self.pool.size
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("max_connections", &self.pool.size).finish_non_exhaustive()
    }
}
