//! A slot in the pool: a connection, or the right to open one. It goes back on drop.

use std::borrow::Borrow;
use std::sync::Arc;

use tokio_postgres::Row;

use super::Pool;
use crate::driver::connection::Connection;
use crate::driver::error::answered;
use crate::driver::{Commit, DriverError, EachResult};
use crate::{RowSink, Session, Statement};

/// Borrows the pool while it belongs to a request: counting references per request would cost more
/// than everything else here.
pub(in crate::driver) struct Slot<P: Borrow<Arc<Pool>>> {
    pool: P,
    state: SlotState,
}

/// The state of a slot.
pub(in crate::driver) enum SlotState {
    Connection(Box<Connection>),
    /// A connection may be opened.
    Vacant,
    /// The slot has been passed on.
    Released,
}

impl<P: Borrow<Arc<Pool>>> Slot<P> {
    pub(in crate::driver) fn new(pool: P, state: SlotState) -> Self {
        Self { pool, state }
    }

    pub(in crate::driver) fn is_vacant(&self) -> bool {
        matches!(self.state, SlotState::Vacant)
    }

    /// Fills a vacant slot.
    pub(in crate::driver) fn fill(&mut self, connection: Box<Connection>) {
        self.state = SlotState::Connection(connection);
    }

    /// Takes the connection out, which leaves the slot vacant.
    pub(in crate::driver) fn take(&mut self) -> Option<Box<Connection>> {
        match std::mem::replace(&mut self.state, SlotState::Released) {
            SlotState::Connection(connection) => {
                self.state = SlotState::Vacant;
                Some(connection)
            }
            state => {
                self.state = state;
                None
            }
        }
    }

    /// Closes the connection, which leaves the slot vacant.
    pub(in crate::driver) fn close(&mut self) {
        if let Some(connection) = self.take() {
            connection.close();
        }
    }

    pub(in crate::driver) fn connection(&mut self) -> Result<&mut Connection, DriverError> {
        match &mut self.state {
            SlotState::Connection(connection) => Ok(connection),
            SlotState::Vacant | SlotState::Released => Err(DriverError::Closed),
        }
    }

    pub(in crate::driver) fn pool(&self) -> &Arc<Pool> {
        self.pool.borrow()
    }

    /// Takes the state out of the slot; nothing goes back to the pool.
    pub(in crate::driver) fn into_state(mut self) -> SlotState {
        std::mem::replace(&mut self.state, SlotState::Released)
    }

    /// Records the findings of a statement about its connection, and closes a connection that
    /// cannot continue.
    pub(in crate::driver) fn conclude<T>(
        &mut self,
        result: Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let stale = self
            .connection()
            .is_ok_and(|connection| std::mem::take(&mut connection.found_stale));
        if stale {
            self.pool().views_changed.notify_one();
        }
        result.map_err(|error| self.close_after(error))
    }

    /// Closes the connection if it cannot continue after the error. Returns the error to report.
    #[cold]
    fn close_after(&mut self, error: DriverError) -> DriverError {
        if error.leaves_connection_usable() {
            return error;
        }

        let Some(connection) = self.take() else {
            return error;
        };

        let died_idle = error.is_connection() && connection.has_died_idle();
        match error {
            // A write whose outcome is unknown may still be running too.
            DriverError::Unanswered | DriverError::OutcomeUnknown => {
                super::cancel::cancel_late(self.pool(), connection);
            }
            _ => connection.close(),
        }

        if died_idle {
            DriverError::ClosedIdle {
                told: error.code().is_some(),
            }
        } else {
            error
        }
    }
}

impl Slot<Arc<Pool>> {
    /// The same slot, for a request that borrows the pool.
    pub(in crate::driver) fn borrowed(self, pool: &Arc<Pool>) -> Slot<&Arc<Pool>> {
        Slot::new(pool, self.into_state())
    }
}

impl Slot<&Arc<Pool>> {
    /// The same slot, as an owner that keeps the pool alive.
    pub(in crate::driver) fn owned(self) -> Slot<Arc<Pool>> {
        let pool = self.pool.clone();
        Slot::new(pool, self.into_state())
    }

    /// Runs a statement. If the future is dropped, the statement is ended before the slot goes
    /// back.
    ///
    /// # Errors
    /// [`DriverError::ClosedIdle`] when the connection was closed before the statement reached it,
    /// so that a read may be sent on another one.
    pub(in crate::driver) async fn read(
        self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let mut running = Running(Some(self));
        let Running(Some(slot)) = &mut running else {
            return Err(DriverError::Closed);
        };

        let pool = slot.pool;
        let connection = slot.connection()?;
        connection.begin(pool.watches.now());
        let answering = statement.text.begin();
        let result = connection
            .read(session, &answering.told(statement), sink)
            .await;
        answered(answering, &result);
        connection.watch().end();

        running.end(result)
    }

    /// Runs pipelined reads and returns a result for each.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read); there are no results at all then.
    pub(in crate::driver) async fn read_each(
        self,
        reads: &[(&Session, &Statement)],
    ) -> Result<Vec<EachResult>, DriverError> {
        let mut running = Running(Some(self));
        let Running(Some(slot)) = &mut running else {
            return Err(DriverError::Closed);
        };

        let pool = slot.pool;
        let connection = slot.connection()?;
        connection.begin(pool.watches.now());
        let results = connection.read_each(reads).await;
        connection.watch().end();

        running.end(results)
    }

    /// Runs a write. Returns whether it was committed. If the future is dropped, the statement is
    /// ended and uncommitted work is rolled back.
    pub(in crate::driver) async fn write(
        self,
        session: &Session,
        statement: &Statement,
        commit: Commit<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<bool, DriverError> {
        let mut running = Running(Some(self));
        let Running(Some(slot)) = &mut running else {
            return Err(DriverError::Closed);
        };

        let pool = slot.pool;
        let connection = slot.connection()?;
        connection.begin(pool.watches.now());
        let answering = statement.text.begin();
        let result = connection
            .write(session, &answering.told(statement), commit, rows)
            .await;
        answered(answering, &result);
        connection.watch().end();

        running.end(result)
    }
}

impl<P: Borrow<Arc<Pool>>> Drop for Slot<P> {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.state, SlotState::Released) {
            SlotState::Released => {}
            state => self.pool().release(state),
        }
    }
}

/// A slot with a running statement.
struct Running<'a>(Option<Slot<&'a Arc<Pool>>>);

impl Running<'_> {
    /// Releases the slot, closing a connection that cannot be reused.
    fn end<T>(mut self, result: Result<T, DriverError>) -> Result<T, DriverError> {
        match self.0.take() {
            Some(mut slot) => slot.conclude(result),
            None => result,
        }
    }
}

impl Drop for Running<'_> {
    /// A slot that is still here has a statement whose request has gone.
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            super::cancel::finish_or_cancel(slot.owned());
        }
    }
}
