//! The driver of planned reads: a pool of our own over `tokio-postgres`.
//!
//! - A statement has its connection to itself. Another one sent behind it would have to wait for it, could be hit by
//!   its cancellation, and would see its session variables. Statements are sent back to back, without waiting for the
//!   answer before, only where one request needs several.
//! - A request reads and writes the socket in its own task. A task for each connection, as `tokio-postgres` proposes,
//!   costs two switches of tasks a statement.
//! - No ping: a connection that has died is noticed by the statement that meets it, and the statement is run again.

mod abandon;
mod config;
mod connection;
#[cfg(unix)]
mod dial;
mod error;
mod keep;
mod place;
mod pool;
#[cfg_attr(not(unix), path = "no_proxy.rs")]
mod proxy;
#[cfg(test)]
mod tests;
mod tls;
#[cfg(all(test, unix))]
mod tls_tests;
mod variable;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_postgres::Row;

pub(super) use connection::Raw;
pub(crate) use error::DriverError;
pub(crate) use proxy::Proxy;

use self::config::Target;
use self::pool::Pool;
use super::connect::ConnectConfig;
use super::{RowSink, Session, Statement};

/// Runs planned reads and calls.
pub(crate) struct Driver {
    pool: Arc<Pool>,
}

impl Driver {
    /// Connects when it is first used.
    pub(super) fn new(connect: &ConnectConfig, max_connections: u32, acquire_timeout: Duration) -> Self {
        Self { pool: Pool::new(Target::new(connect), max_connections, acquire_timeout, keep::TICK) }
    }

    /// Runs a read on a connection of its own. When the future is dropped, so is the statement.
    pub(super) async fn read(
        &self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        self.pool.acquire().await?.read(session, statement, sink).await
    }

    /// Runs a statement that must not be sent twice. A connection that has died in the pool is not tried.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when the connection ends before the answer.
    pub(super) async fn write(&self, session: &Session, statement: &Statement) -> Result<Vec<Row>, DriverError> {
        loop {
            let mut place = self.pool.acquire().await?;
            if !place.connection()?.is_alive() {
                place.close();
                continue;
            }
            let mut rows = Vec::new();
            return match place.read(session, statement, &mut rows).await {
                Ok(()) => Ok(rows),
                Err(error) if error.is_connection() => Err(DriverError::Lost),
                Err(error) => Err(error),
            };
        }
    }

    /// Closes the connections that lie unused; those in use are closed when they come back.
    pub(super) fn give_up_connections(&self) {
        self.pool.give_up_connections();
    }

    /// Notified when a view has changed since its statement was made.
    pub(super) fn views_changed(&self) -> &Arc<Notify> {
        &self.pool.views_changed
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
