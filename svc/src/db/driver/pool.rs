//! The connections, and who has which.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, TryAcquireError};
use tokio_postgres::Row;

use super::DriverError;
use super::config::Target;
use super::connection::Connection;
use crate::db::{RowSink, Session, Statement};

/// How old a connection gets, and how long one may lie unused.
const LIFETIME: Duration = Duration::from_secs(30 * 60);
const IDLE: Duration = Duration::from_secs(10 * 60);

/// Runs planned reads.
pub(crate) struct Driver {
    pool: Arc<Pool>,
    max_connections: u32,
    acquire_timeout: Duration,
}

/// The connections that nobody uses; one permit stands for each that may be used.
pub(super) struct Pool {
    pub(super) target: Target,
    permits: Semaphore,
    #[expect(clippy::vec_box, reason = "a connection is large, and moves twice for each statement")]
    idle: Mutex<Vec<Box<Connection>>>,
    generation: AtomicU64,
    /// Says that a view has changed since its statement was made.
    views_changed: Arc<Notify>,
}

impl Driver {
    /// Connects when it is first used.
    pub(in crate::db) fn new(options: &PgConnectOptions, max_connections: u32, acquire_timeout: Duration) -> Self {
        let pool = Pool {
            target: Target::new(options),
            permits: Semaphore::new(max_connections as usize),
            idle: Mutex::default(),
            generation: AtomicU64::new(0),
            views_changed: Arc::default(),
        };
        Self { pool: Arc::new(pool), max_connections, acquire_timeout }
    }

    /// Runs a read on a connection of its own. When the future is dropped, so is the statement.
    pub(in crate::db) async fn read(
        &self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        self.acquire().await?.read(session, statement, sink).await
    }

    /// Runs a statement that must not be sent twice. A connection that has died in the pool is not tried.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when the connection ends before the answer.
    pub(in crate::db) async fn write(&self, session: &Session, statement: &Statement) -> Result<Vec<Row>, DriverError> {
        loop {
            let mut lease = self.acquire().await?;
            if lease.is_alive() {
                let mut rows = Vec::new();
                let result = lease.read(session, statement, &mut rows).await;
                return match result {
                    Ok(()) => Ok(rows),
                    Err(error) if error.is_connection() => Err(DriverError::Lost),
                    Err(error) => Err(error),
                };
            }
        }
    }

    /// Closes the connections that lie unused; those in use are closed when they come back.
    pub(in crate::db) fn give_up_connections(&self) {
        self.pool.generation.fetch_add(1, Ordering::Relaxed);
        let idle = std::mem::take(&mut *self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner));
        idle.into_iter().for_each(|connection| connection.close());
    }

    /// Notified when a view has changed since its statement was made.
    pub(in crate::db) fn views_changed(&self) -> &Arc<Notify> {
        &self.pool.views_changed
    }

    /// Connections in use, and the most there can be.
    pub(in crate::db) fn pool_use(&self) -> (u32, u32) {
        let free = u32::try_from(self.pool.permits.available_permits()).unwrap_or(u32::MAX);
        (self.max_connections.saturating_sub(free), self.max_connections)
    }

    async fn acquire(&self) -> Result<Lease<'_>, DriverError> {
        match self.pool.permits.try_acquire() {
            Ok(permit) => match self.pool.take_idle() {
                Some(connection) => Ok(Lease::new(&self.pool, connection, permit)),
                None => self.within(async { Ok(permit) }).await,
            },
            // Those that wait are served in their order.
            Err(TryAcquireError::NoPermits) => {
                let permit = self.pool.permits.acquire();
                self.within(async { permit.await.map_err(|_| DriverError::Closed) }).await
            }
            Err(TryAcquireError::Closed) => Err(DriverError::Closed),
        }
    }

    /// An idle or a new connection, within the time-out.
    async fn within<'a>(
        &'a self,
        permit: impl Future<Output = Result<SemaphorePermit<'a>, DriverError>>,
    ) -> Result<Lease<'a>, DriverError> {
        let open = async {
            let permit = permit.await?;
            let connection = match self.pool.take_idle() {
                Some(connection) => connection,
                // Boxed, as the future that connects is large, and is moved with each request's.
                None => Box::new(Box::pin(self.pool.open()).await?),
            };
            Ok(Lease::new(&self.pool, connection, permit))
        };
        tokio::time::timeout(self.acquire_timeout, open).await.unwrap_or(Err(DriverError::Busy))
    }
}

impl Pool {
    async fn open(&self) -> Result<Connection, DriverError> {
        Connection::open(&self.target, self.generation.load(Ordering::Relaxed)).await
    }

    /// The connection that was used last, as its caches are the warmest.
    fn take_idle(&self) -> Option<Box<Connection>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = idle.pop()?;
        if connection.used.elapsed() < IDLE {
            return Some(connection);
        }
        // Those below have been unused for even longer.
        let old = std::mem::take(&mut *idle);
        drop(idle);
        old.into_iter().chain([connection]).for_each(|connection| connection.close());
        None
    }

    /// Takes a connection back on which nothing runs any more.
    pub(super) fn put_back(&self, mut connection: Box<Connection>) {
        connection.used = Instant::now();
        let outdated = connection.generation != self.generation.load(Ordering::Relaxed);
        if outdated || connection.used - connection.opened > LIFETIME {
            return connection.close();
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

/// A permit that is given back later than its request has ended.
pub(super) struct Owed(pub(super) Arc<Pool>);

impl Drop for Owed {
    fn drop(&mut self) {
        self.0.permits.add_permits(1);
    }
}

/// A connection, for one statement.
struct Lease<'a> {
    pool: &'a Arc<Pool>,
    connection: Option<Box<Connection>>,
    permit: Option<SemaphorePermit<'a>>,
}

impl<'a> Lease<'a> {
    fn new(pool: &'a Arc<Pool>, connection: Box<Connection>, permit: SemaphorePermit<'a>) -> Self {
        Self { pool, connection: Some(connection), permit: Some(permit) }
    }

    /// Whether the server has not ended the connection, as far as is known here. One that is not alive is closed.
    fn is_alive(&mut self) -> bool {
        let alive = self.connection.as_mut().is_some_and(|connection| connection.is_alive());
        if !alive && let Some(connection) = self.connection.take() {
            connection.close();
        }
        alive
    }

    async fn read(
        mut self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let connection = self.connection.as_mut().ok_or(DriverError::Closed)?;
        let result = connection.read(session, statement, sink).await;
        if let Some(mut connection) = self.connection.take() {
            if std::mem::take(&mut connection.found_stale) {
                self.pool.views_changed.notify_one();
            }
            match &result {
                Err(error) if !error.leaves_connection_usable() => connection.close(),
                _ => self.pool.put_back(connection),
            }
        }
        result
    }
}

impl Drop for Lease<'_> {
    /// A connection that is still here has a statement whose request has gone.
    fn drop(&mut self) {
        if let (Some(connection), Some(permit)) = (self.connection.take(), self.permit.take()) {
            permit.forget();
            super::abandon::abandon(Owed(self.pool.clone()), connection);
        }
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("max_connections", &self.max_connections).finish_non_exhaustive()
    }
}
