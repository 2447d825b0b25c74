//! Reads and transactions of requests, and the errors of the driver.

use std::sync::atomic::Ordering;

use tokio::sync::Mutex;
use tokio_postgres::Row;

use super::Database;
use super::pattern_error::Waits;
use crate::driver::{AtomicTransaction, DriverError, EachResult, Isolation, OpenTransaction};
use crate::statement::recorder::{self, Recording, StatementKind, TimedSink};
use crate::{DbError, RowSink, Rows, Session, Statement};
use svc_core::error::sqlstate::is_read_only;
use svc_core::task::boxed::boxed_rare;

impl Database {
    /// Runs a read with the session variables of its request.
    pub async fn fetch(&self, session: &Session, statement: &Statement) -> Result<Rows, DbError> {
        let mut rows = Vec::new();
        self.stream(session, statement, &mut rows).await?;
        Ok(Rows::Read(rows))
    }

    /// Runs a read and passes on its rows as they arrive. A connection that has died since its last
    /// use is replaced.
    pub async fn stream(
        &self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DbError> {
        // Nearly always, without a future that waits.
        if !self.is_up() {
            boxed_rare(|| self.reached()).await?;
        }

        session.check()?;
        if let Some(whole) = AtomicTransaction::of(session) {
            return boxed_rare(|| self.stream_within(whole, statement, sink)).await;
        }

        let turn = if session.has_turns() {
            session.turn().await
        } else {
            None
        };

        let read = match recorder::begin(statement, StatementKind::Read) {
            None => self.driver.read(session, statement, sink).await,
            Some(recording) => {
                boxed_rare(|| self.read_recorded(&recording, session, statement, sink)).await
            }
        };

        drop(turn);

        match read {
            Ok(()) => Ok(()),
            Err(error) => {
                let error = self.noted_of(session, Some(statement), error);
                Err(boxed_rare(|| self.error_of(statement, error, Waits::Yes)).await)
            }
        }
    }

    /// Runs a read in the transaction of an operation. It is not repeated: PostgreSQL rejects all
    /// statements after an error.
    async fn stream_within(
        &self,
        whole: &AtomicTransaction,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DbError> {
        let rows = match whole.alone().await {
            Ok(mut open) => open.read(statement).await,
            Err(error) => Err(error),
        };

        match rows {
            Ok(rows) => {
                rows.into_iter().for_each(|row| sink.row(row));
                Ok(())
            }
            Err(error) => {
                let error = self.noted(error);
                if error.shows_change() {
                    self.may_have_changed();
                }

                // The request has one connection, and does not wait for another.
                let error = self.error_of(statement, error, Waits::No).await;
                Err(error.in_transaction())
            }
        }
    }

    /// Classifies the error of a read in a transaction. In that of an operation, which has the one
    /// connection of its request, it does not wait for another.
    pub(super) async fn error_in(
        &self,
        transaction: &Mutex<OpenTransaction>,
        statement: &Statement,
        error: DbError,
    ) -> DbError {
        let waits = match transaction.lock().await.is_of_operation() {
            true => Waits::No,
            false => Waits::Yes,
        };
        self.error_of(statement, error, waits).await
    }

    async fn read_recorded(
        &self,
        recording: &Recording,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let mut timed = TimedSink::new(sink);
        let result = self.driver.read(session, statement, &mut timed).await;
        recording.read(result.is_ok(), &timed);
        result
    }

    /// Runs pipelined reads on one connection and returns a result for each. An error common to all
    /// is not examined further.
    pub(crate) async fn read_each(
        &self,
        reads: &[(&Session, &Statement)],
    ) -> Result<Vec<EachResult>, DbError> {
        self.reached().await?;
        for (session, _) in reads {
            session.check()?;
        }
        self.driver
            .read_each(reads)
            .await
            .map_err(|error| self.noted(error))
    }

    /// Begins a transaction with the session variables of a request, also if the session has an
    /// enclosing one.
    pub async fn begin(
        &self,
        session: &Session,
        isolation: Isolation,
    ) -> Result<OpenTransaction, DbError> {
        self.reached().await?;
        session.check()?;
        self.driver
            .begin(session, isolation)
            .await
            .map_err(|error| self.noted_of(session, None, error))
    }

    /// Begins a transaction with its first statement, in one round trip; `rows` receives the rows
    /// that arrived.
    pub async fn begin_with(
        &self,
        session: &Session,
        isolation: Isolation,
        statement: &Statement,
        rows: &mut Vec<Row>,
    ) -> Result<OpenTransaction, DbError> {
        self.reached().await?;
        session.check()?;
        let begun = self
            .driver
            .begin_with(session, isolation, statement, rows)
            .await;
        begun.map_err(|error| self.noted_of(session, Some(statement), error))
    }

    /// Classifies the error of [`begin_with`](Self::begin_with) and a read with a client's values.
    pub async fn error_of_first_read(&self, statement: &Statement, error: DbError) -> DbError {
        self.error_of(statement, error, Waits::Yes).await
    }

    /// Converts a driver error of the set-up of a request's session variables, or of the statement
    /// that ran with them.
    #[cold]
    pub(crate) fn noted_of(
        &self,
        session: &Session,
        statement: Option<&Statement>,
        error: DriverError,
    ) -> DbError {
        if let Some(names) = session.blamed(error.of_database()) {
            return DbError::BadVariable(names);
        }

        let sent = session.setup().into_iter().chain(statement);
        sent.fold(self.noted(error), DbError::of_values)
    }

    /// Converts a driver error of a statement.
    #[cold]
    pub fn noted_in(&self, statement: &Statement, error: DriverError) -> DbError {
        self.noted(error).of_values(statement)
    }

    /// Converts a driver error, and triggers a check if the database may be unreachable.
    #[cold]
    pub fn noted(&self, error: DriverError) -> DbError {
        let is_read_only = error.code().is_some_and(|code| is_read_only(code.code()));
        if is_read_only {
            self.is_read_only.store(true, Ordering::Relaxed);
        }
        if error.is_sign_of_absence() || is_read_only || self.driver.notes_lost_statement(&error) {
            self.suspect();
        }
        error.into()
    }
}
