//! Statements that write: each is sent once, and a failure is classified by how far the statement
//! got.

use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};

use futures_util::future::{join, join5};
use futures_util::{FutureExt as _, TryStreamExt as _};
use tokio_postgres::error::Severity;
use tokio_postgres::{Client, Row, Statement as Prepared};

use super::{Bound, Connection, drive_and_reset, switch_back};
use crate::driver::{Driver, DriverError};
use crate::{Session, Statement};

/// When the transaction of a write is committed.
#[derive(Clone, Copy)]
pub enum Commit<'a> {
    /// With the statement, in the same round trip.
    Always,
    /// If this predicate accepts the rows, which costs a second round trip.
    If(&'a (dyn Fn(&[Row]) -> bool + Send + Sync)),
}

/// The plan mode switch and the session variables that go before a write.
type Before<'a> = (Option<&'static str>, Option<(&'a Statement, Prepared)>);

/// The progress of a write.
pub(in crate::driver) struct Progress(AtomicU8);

/// PostgreSQL may have started it.
const SENT: u8 = 0;
/// PostgreSQL has rejected it, or closed the connection before the end of the statement.
const REFUSED: u8 = 1;
/// The statement has run; the response to its commit is outstanding.
const RUN: u8 = 2;

impl Driver {
    /// Runs a statement that must not be sent twice in its own transaction. Returns whether it was
    /// committed. Skips connections that died in the pool. `rows` receives the rows that arrived,
    /// even if the statement fails.
    ///
    /// # Errors
    /// [`DriverError::OutcomeUnknown`] when the statement may or may not have been committed. After
    /// any other error, nothing was committed.
    pub(crate) async fn write(
        &self,
        session: &Session,
        statement: &Statement,
        commit: Commit<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<bool, DriverError> {
        loop {
            let mut slot = self.pool.acquire().await?;

            // A write is not sent again, so a connection that died in the pool must be recognized
            // before.
            if !slot.connection()?.is_alive() {
                slot.close();
                continue;
            }

            let result = slot.write(session, statement, commit, rows).await;
            if result
                .as_ref()
                .is_err_and(|error| error.is_in_doubt() || matches!(error, DriverError::Unsent))
            {
                self.pool.close_dead();
            }

            return result;
        }
    }
}

impl Connection {
    /// Runs a write. Returns whether it was committed. A statement made stale by a changed view is
    /// prepared again, as no part of it has run.
    pub(in crate::driver) async fn write(
        &mut self,
        session: &Session,
        statement: &Statement,
        commit: Commit<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<bool, DriverError> {
        match self.write_once(session, statement, commit, rows).await {
            // An error with a context comes from a statement inside a function, which has started
            // by then.
            Err(error)
                if error.is_stale_plan()
                    && error
                        .of_database()
                        .is_some_and(|error| error.where_().is_none()) =>
            {
                self.found_stale = true;
                self.forget(session.setup(), Some(statement));
                rows.clear();
                Box::pin(self.write_once(session, statement, commit, rows)).await
            }
            Err(error) => {
                if error.shows_change() {
                    self.found_stale = true;
                    self.forget(session.setup(), Some(statement));
                }
                Err(error)
            }
            kept => kept,
        }
    }

    async fn write_once(
        &mut self,
        session: &Session,
        statement: &Statement,
        commit: Commit<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<bool, DriverError> {
        // Nothing has run while statements are prepared.
        let prepared = self
            .prepared(statement)
            .await
            .map_err(DriverError::while_preparing)?;
        let setup = match session.setup() {
            Some(setup) => Some((
                setup,
                self.prepared(setup)
                    .await
                    .map_err(DriverError::while_preparing)?,
            )),
            None => None,
        };

        let progress = Progress::new();

        // Recorded before it is sent, as a write that is dropped half-way may also have altered the
        // session.
        self.session.run(statement);

        // Statements inside functions are planned once, not for each call.
        let switch = self.session.switch(false);
        let result = match (setup, commit) {
            (None, Commit::Always) if self.session.pooled.is_none() => {
                // A nested result, as PostgreSQL's own error takes precedence over the loss of the
                // connection after it.
                let write = progress.run(&self.client, &prepared, statement, rows);
                let write =
                    pin!(join(switch_back(&self.client, switch), write).map(|((), run)| run));
                let run =
                    drive_and_reset(&self.client, &mut self.wire, &mut self.session, write).await;
                run.and_then(|run| Ok(run?)).map(|()| true)
            }
            (setup, Commit::Always) => {
                let before = (switch, setup);
                Box::pin(self.transaction(
                    before,
                    (statement, &prepared),
                    Some("COMMIT"),
                    &progress,
                    rows,
                ))
                .await
                .map(|()| true)
            }
            (setup, Commit::If(keeps)) => {
                let before = (switch, setup);
                Box::pin(self.write_if(before, (statement, &prepared), keeps, &progress, rows))
                    .await
            }
        };

        result.map_err(|error| progress.judge(error))
    }

    /// Runs a write in a transaction, and checks its rows before the end.
    async fn write_if(
        &mut self,
        before: Before<'_>,
        statement: (&Statement, &Prepared),
        keeps: &(dyn Fn(&[Row]) -> bool + Send + Sync),
        progress: &Progress,
        rows: &mut Vec<Row>,
    ) -> Result<bool, DriverError> {
        // Set before `BEGIN` is sent, so that a request which is dropped meanwhile is rolled back.
        self.in_transaction = true;

        if let Err(error) = self
            .transaction(before, statement, None, progress, rows)
            .await
        {
            // No commit was sent.
            progress.note(REFUSED);
            if error.leaves_connection_usable() {
                self.end("ROLLBACK").await?;
            }
            return Err(error);
        }

        let kept = keeps(rows);
        let end = if kept { "COMMIT" } else { "ROLLBACK" };
        if !kept {
            progress.note(REFUSED);
        }

        self.end(end).await?;

        Ok(kept)
    }

    /// Sends the statements of a transaction at once. When one fails, PostgreSQL rejects the ones
    /// after it.
    async fn transaction(
        &mut self,
        (switch, setup): Before<'_>,
        (statement, prepared): (&Statement, &Prepared),
        end: Option<&str>,
        progress: &Progress,
        rows: &mut Vec<Row>,
    ) -> Result<(), DriverError> {
        let (begin, end) = (
            self.session.begin("BEGIN", false),
            end.map(|end| self.session.end(end)),
        );
        let client = &self.client;
        let mut settings = Vec::new();
        let before = Progress::new();
        let all = join5(
            switch_back(client, switch),
            async { progress.watch(client.batch_execute(&begin).await) },
            async {
                match &setup {
                    Some((setup, prepared)) => {
                        progress.watch(before.run(client, prepared, setup, &mut settings).await)
                    }
                    None => Ok(()),
                }
            },
            progress.run(client, prepared, statement, rows),
            async {
                match &end {
                    Some(end) => client.batch_execute(end).await,
                    None => Ok(()),
                }
            },
        );

        let ((), begun, set, run, ended) = match &end {
            Some(_) => {
                drive_and_reset(&self.client, &mut self.wire, &mut self.session, all).await?
            }
            None => self.wire.drive(all.map(Ok::<_, DriverError>)).await?,
        };

        // In the order of sending: an error makes PostgreSQL reject everything behind it, so the
        // first is the cause.
        begun?;
        set?;
        run?;

        Ok(ended?)
    }
}

impl Progress {
    pub(in crate::driver) fn new() -> Self {
        Self(AtomicU8::new(SENT))
    }

    fn note(&self, progress: u8) {
        self.0.store(progress, Ordering::Relaxed);
    }

    /// Records a failure before the statement.
    fn watch(
        &self,
        result: Result<(), tokio_postgres::Error>,
    ) -> Result<(), tokio_postgres::Error> {
        // A lost connection proves nothing: PostgreSQL may have received the statement behind it.
        if result
            .as_ref()
            .is_err_and(|error| error.as_db_error().is_some())
        {
            self.note(REFUSED);
        }
        result
    }

    /// Runs the statement.
    pub(in crate::driver) async fn run(
        &self,
        client: &Client,
        prepared: &Prepared,
        statement: &Statement,
        rows: &mut Vec<Row>,
    ) -> Result<(), tokio_postgres::Error> {
        let run = async {
            let mut stream = pin!(
                client
                    .query_raw(prepared, statement.params.iter().map(Bound))
                    .await?
            );

            loop {
                match stream.try_next().await {
                    Ok(Some(row)) => rows.push(row),
                    Ok(None) => break,
                    Err(error) => {
                        // After `CommandComplete`, the error comes from the commit, such as from a
                        // deferred constraint.
                        if stream.rows_affected().is_some() {
                            self.note(RUN);
                        }
                        return Err(error);
                    }
                }
            }

            self.note(RUN);

            Ok(())
        };

        let result: Result<(), tokio_postgres::Error> = run.await;
        let refused = result
            .as_ref()
            .is_err_and(|error| error.as_db_error().is_some());
        if refused && self.0.load(Ordering::Relaxed) == SENT {
            self.note(REFUSED);
        }

        result
    }

    /// Returns the error to report for a failed write, depending on its progress.
    pub(in crate::driver) fn judge(&self, error: DriverError) -> DriverError {
        let fatal = [Some(Severity::Fatal), Some(Severity::Panic)];
        let refused = error
            .of_database()
            .is_some_and(|error| !fatal.contains(&error.parsed_severity()));

        match self.0.load(Ordering::Relaxed) {
            // An ordinary error rolls back the transaction whenever it comes.
            _ if refused => error,
            REFUSED if error.is_connection() => DriverError::Closed,
            REFUSED => error,
            _ if error.is_in_doubt() || error.of_database().is_some() => {
                DriverError::OutcomeUnknown
            }
            _ => error,
        }
    }
}

impl DriverError {
    /// The same error, for a write that was being prepared.
    fn while_preparing(self) -> Self {
        if self.is_connection() {
            Self::Unsent
        } else {
            self
        }
    }
}
