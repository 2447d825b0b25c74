//! A slot in the pool: a connection, or the right to open one. It goes back when it is dropped.

use std::borrow::Borrow;
use std::sync::Arc;

use tokio_postgres::Row;

use super::Pool;
use crate::postgres::driver::connection::Connection;
use crate::postgres::driver::error::answered;
use crate::postgres::driver::{Commit, DriverError, EachResult};
use crate::postgres::{RowSink, Session, Statement};

/// Borrows the pool as long as it belongs to a request: counting references for each would cost more than all else here.
pub(in crate::postgres::driver) struct Slot<P: Borrow<Arc<Pool>>> {
    pool: P,
    state: SlotState,
}

/// The state of a slot.
pub(in crate::postgres::driver) enum SlotState {
    Connection(Box<Connection>),
    /// A connection may be opened.
    Vacant,
    /// The slot has been passed on.
    Released,
}

impl<P: Borrow<Arc<Pool>>> Slot<P> {
    pub(in crate::postgres::driver) fn new(pool: P, state: SlotState) -> Self {
        Self { pool, state }
    }

    pub(in crate::postgres::driver) fn is_vacant(&self) -> bool {
        matches!(self.state, SlotState::Vacant)
    }

    /// Fills a vacant slot.
    pub(in crate::postgres::driver) fn fill(&mut self, connection: Box<Connection>) {
        self.state = SlotState::Connection(connection);
    }

    /// Takes the connection out; the slot is vacant then.
    pub(in crate::postgres::driver) fn take(&mut self) -> Option<Box<Connection>> {
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

    /// Closes the connection; the slot is vacant then.
    pub(in crate::postgres::driver) fn close(&mut self) {
        if let Some(connection) = self.take() {
            connection.close();
        }
    }

    pub(in crate::postgres::driver) fn connection(&mut self) -> Result<&mut Connection, DriverError> {
        match &mut self.state {
            SlotState::Connection(connection) => Ok(connection),
            SlotState::Vacant | SlotState::Released => Err(DriverError::Closed),
        }
    }

    pub(in crate::postgres::driver) fn pool(&self) -> &Arc<Pool> {
        self.pool.borrow()
    }

    /// Returns the state of the slot, which is taken out; nothing goes back to the pool.
    pub(in crate::postgres::driver) fn into_state(mut self) -> SlotState {
        std::mem::replace(&mut self.state, SlotState::Released)
    }

    /// Notes what a statement has found out about its connection, and closes one that cannot go on.
    pub(in crate::postgres::driver) fn conclude<T>(
        &mut self,
        result: Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let stale = self.connection().is_ok_and(|connection| std::mem::take(&mut connection.found_stale));
        if stale {
            self.pool().views_changed.notify_one();
        }
        result.map_err(|error| self.close_after(error))
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
            DriverError::Unanswered | DriverError::OutcomeUnknown => {
                super::cancel::cancel_late(self.pool(), connection);
            }
            _ => connection.close(),
        }
        if died_idle { DriverError::ClosedIdle { told: error.code().is_some() } } else { error }
    }
}

impl Slot<Arc<Pool>> {
    /// The same slot, in the hands of a request that borrows the pool.
    pub(in crate::postgres::driver) fn borrowed(self, pool: &Arc<Pool>) -> Slot<&Arc<Pool>> {
        Slot::new(pool, self.into_state())
    }
}

impl Slot<&Arc<Pool>> {
    /// The same slot, which keeps the pool alive.
    pub(in crate::postgres::driver) fn owned(self) -> Slot<Arc<Pool>> {
        let pool = self.pool.clone();
        Slot::new(pool, self.into_state())
    }

    /// Runs a statement. When the future is dropped, the statement is ended before the slot goes back.
    ///
    /// # Errors
    /// [`DriverError::ClosedIdle`] when the connection had been closed before the statement came to it, so that it may
    /// be sent on another one if it only reads.
    pub(in crate::postgres::driver) async fn read(
        self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let mut running = Running(Some(self));
        let Running(Some(slot)) = &mut running else { return Err(DriverError::Closed) };
        let pool = slot.pool;
        let connection = slot.connection()?;
        connection.begin(pool.watches.now());
        let answering = statement.text.begin();
        let result = connection.read(session, &answering.told(statement), sink).await;
        answered(answering, &result);
        connection.watch().end();
        running.end(result)
    }

    /// Runs reads back to back; a result for each.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), which leave none of them with a result.
    pub(in crate::postgres::driver) async fn read_each(
        self,
        reads: &[(&Session, &Statement)],
    ) -> Result<Vec<EachResult>, DriverError> {
        let mut running = Running(Some(self));
        let Running(Some(slot)) = &mut running else { return Err(DriverError::Closed) };
        let pool = slot.pool;
        let connection = slot.connection()?;
        connection.begin(pool.watches.now());
        let results = connection.read_each(reads).await;
        connection.watch().end();
        running.end(results)
    }

    /// Runs a write; whether it is committed. When the future is dropped, the statement is ended and nothing is kept that
    /// was not committed.
    pub(in crate::postgres::driver) async fn write(
        self,
        session: &Session,
        statement: &Statement,
        commit: Commit<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<bool, DriverError> {
        let mut running = Running(Some(self));
        let Running(Some(slot)) = &mut running else { return Err(DriverError::Closed) };
        let pool = slot.pool;
        let connection = slot.connection()?;
        connection.begin(pool.watches.now());
        let answering = statement.text.begin();
        let result = connection.write(session, &answering.told(statement), commit, rows).await;
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

/// A slot where a statement runs.
struct Running<'a>(Option<Slot<&'a Arc<Pool>>>);

impl Running<'_> {
    /// The slot goes back, without a connection that cannot be used again.
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
