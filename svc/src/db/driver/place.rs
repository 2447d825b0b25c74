//! A place in the pool: a connection, or room for one. It goes back when it is dropped.

use std::borrow::Borrow;
use std::sync::Arc;

use tokio_postgres::Row;

use super::connection::Connection;
use super::pool::Pool;
use super::{Commit, DriverError};
use crate::db::{RowSink, Session, Statement};

/// Borrows the pool as long as it belongs to a request: counting references for each would cost more than all else here.
pub(super) struct Place<P: Borrow<Arc<Pool>>> {
    pool: P,
    held: Held,
}

/// What is in a place.
pub(super) enum Held {
    Connection(Box<Connection>),
    /// A connection may be opened.
    Room,
    /// The place has been passed on.
    Nothing,
}

impl<P: Borrow<Arc<Pool>>> Place<P> {
    pub(super) fn new(pool: P, held: Held) -> Self {
        Self { pool, held }
    }

    pub(super) fn is_room(&self) -> bool {
        matches!(self.held, Held::Room)
    }

    /// Puts a connection where there is room.
    pub(super) fn fill(&mut self, connection: Box<Connection>) {
        self.held = Held::Connection(connection);
    }

    /// Takes the connection out; its room is kept.
    pub(super) fn take(&mut self) -> Option<Box<Connection>> {
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Connection(connection) => {
                self.held = Held::Room;
                Some(connection)
            }
            held => {
                self.held = held;
                None
            }
        }
    }

    /// Closes the connection; its room is kept.
    pub(super) fn close(&mut self) {
        if let Some(connection) = self.take() {
            connection.close();
        }
    }

    pub(super) fn connection(&mut self) -> Result<&mut Connection, DriverError> {
        match &mut self.held {
            Held::Connection(connection) => Ok(connection),
            Held::Room | Held::Nothing => Err(DriverError::Closed),
        }
    }

    pub(super) fn pool(&self) -> &Arc<Pool> {
        self.pool.borrow()
    }

    /// What is in it; the place is no more.
    pub(super) fn into_held(mut self) -> Held {
        std::mem::replace(&mut self.held, Held::Nothing)
    }
}

impl Place<Arc<Pool>> {
    /// The same place, in the hands of a request that borrows the pool.
    pub(super) fn lent(self, pool: &Arc<Pool>) -> Place<&Arc<Pool>> {
        Place::new(pool, self.into_held())
    }
}

impl Place<&Arc<Pool>> {
    /// Runs a statement. When the future is dropped, the statement is ended before the place goes back.
    ///
    /// # Errors
    /// [`DriverError::ClosedIdle`] when the connection had been closed before the statement came to it, so that it may
    /// be sent on another one if it only reads.
    pub(super) async fn read(
        self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let mut running = Running(Some(self));
        let Running(Some(place)) = &mut running else { return Err(DriverError::Closed) };
        let pool = place.pool;
        let connection = place.connection()?;
        connection.begin(pool.watches.now());
        let result = connection.read(session, statement, sink).await;
        connection.watch().end();
        running.end(result)
    }

    /// Runs a write; whether it is committed. When the future is dropped, the statement is ended and nothing is kept that
    /// was not committed.
    pub(super) async fn write(
        self,
        session: &Session,
        statement: &Statement,
        commit: Commit<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<bool, DriverError> {
        let mut running = Running(Some(self));
        let Running(Some(place)) = &mut running else { return Err(DriverError::Closed) };
        let pool = place.pool;
        let connection = place.connection()?;
        connection.begin(pool.watches.now());
        let result = connection.write(session, statement, commit, rows).await;
        connection.watch().end();
        running.end(result)
    }

    /// Closes the connection if it cannot go on after the error; what the error then means.
    #[cold]
    fn close_after(&mut self, error: DriverError) -> DriverError {
        if error.leaves_connection_usable() {
            return error;
        }
        let Some(connection) = self.take() else { return error };
        let died_idle = error.is_connection() && connection.has_died_idle();
        match error {
            // A write that was lost may go on as well.
            DriverError::Unanswered | DriverError::Lost => super::abandon::end_late(self.pool, connection),
            _ => connection.close(),
        }
        if died_idle { DriverError::ClosedIdle { told: error.code().is_some() } } else { error }
    }
}

impl<P: Borrow<Arc<Pool>>> Drop for Place<P> {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => {}
            held => self.pool().put_back(held),
        }
    }
}

/// A place where a statement runs.
struct Running<'a>(Option<Place<&'a Arc<Pool>>>);

impl Running<'_> {
    /// The place goes back, without a connection that cannot be used again.
    fn end<T>(mut self, result: Result<T, DriverError>) -> Result<T, DriverError> {
        let Some(mut place) = self.0.take() else { return result };
        let stale = place.connection().is_ok_and(|connection| std::mem::take(&mut connection.found_stale));
        if stale {
            place.pool.views_changed.notify_one();
        }
        result.map_err(|error| place.close_after(error))
    }
}

impl Drop for Running<'_> {
    /// A place that is still here has a statement whose request has gone.
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            let pool = place.pool.clone();
            super::abandon::abandon(Place::new(pool, place.into_held()));
        }
    }
}
