//! Transactions that span several statements.

mod atomic;
mod joined;
mod parts;

pub use atomic::AtomicTransaction;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join3;
use futures_util::{FutureExt as _, TryStreamExt as _};
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::{Row, SimpleQueryMessage};

use super::connection::{Bound, Connection, rows, switch_back};
use super::error::answered;
use super::pool::{Pool, Slot};
use super::{Driver, DriverError, RetryCause};
use crate::statement::recorder::{self, StatementKind};
use crate::{Session, Statement};

/// Fails in a failed transaction. There, PostgreSQL reports success for a lone `COMMIT` but rolls
/// the transaction back.
const COMMIT: &str = "SELECT; COMMIT";

/// The snapshots of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// The database's default: a snapshot for each statement, unless configured otherwise.
    Default,
    /// One snapshot for the transaction. A write to a row changed by others since then fails.
    Snapshot,
    /// One snapshot, and the serializable isolation level if that is the database's default, which
    /// costs a round trip.
    AtLeastSnapshot,
}

impl Isolation {
    fn begin(self) -> &'static str {
        match self {
            Self::Default => "BEGIN",
            Self::Snapshot | Self::AtLeastSnapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ",
        }
    }
}

/// The progress of the last statement of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// It has succeeded, or there is none.
    Succeeded,
    Failed,
    /// It has not ended. If no caller waits for it, it was dropped, and may still run.
    Running,
}

/// A transaction with a connection to itself. It is rolled back on drop.
pub struct OpenTransaction {
    /// `None` when the transaction has ended, or its connection is lost.
    slot: Option<Slot<Arc<Pool>>>,
    /// The reason why it may be run again, if PostgreSQL has rolled it back for one.
    retry_cause: Option<RetryCause>,
    /// Whether the next read is the last statement, and is sent with the commit.
    ends_with_read: bool,
    /// The result of the commit sent with the last read.
    ended: Option<Result<(), DriverError>>,
    last: Last,
    /// Whether statements have run since its beginning, or since its settings were restored.
    may_have_settings: bool,
    /// Whether it is the transaction of all mutations of an operation.
    is_of_operation: bool,
}

impl Driver {
    /// Starts a transaction and sets its session variables, in one round trip. `BEGIN` is sent
    /// again if it meets a connection that died in the pool.
    pub(crate) async fn begin(
        &self,
        session: &Session,
        isolation: Isolation,
    ) -> Result<OpenTransaction, DriverError> {
        // Each dead connection leaves the pool with one fewer, and a new connection cannot have
        // died in it.
        for _ in 0..=self.pool.size {
            let mut transaction = OpenTransaction::of(self.pool.acquire().await?.owned());
            let begun = transaction
                .connection()?
                .open_transaction(session, isolation)
                .await;
            match transaction.conclude(begun) {
                Err(error) if error.is_lost_connection() => self.pool.close_dead(),
                result => return result.map(|()| transaction),
            }
        }

        Err(DriverError::Closed)
    }
}

impl OpenTransaction {
    fn of(slot: Slot<Arc<Pool>>) -> Self {
        let mut begun = Self::ended();
        begun.slot = Some(slot);
        begun
    }

    /// A transaction that has ended, and runs no statements.
    fn ended() -> Self {
        Self {
            slot: None,
            retry_cause: None,
            ends_with_read: false,
            ended: None,
            last: Last::Succeeded,
            may_have_settings: false,
            is_of_operation: false,
        }
    }

    /// The time to wait for a connection, and for a transaction that others share.
    fn patience(&self) -> Duration {
        self.slot
            .as_ref()
            .map(|slot| slot.pool().acquire_timeout)
            .unwrap_or_default()
    }

    /// Makes the next read the last statement: the commit is sent with it, in the same round trip,
    /// and [`commit`](Self::commit) returns its result.
    pub fn end_with_next_read(&mut self) {
        self.ends_with_read = true;
    }

    /// Takes out the result of the commit sent with the last read.
    pub fn take_end(&mut self) -> Option<Result<(), DriverError>> {
        self.ended.take()
    }

    /// The rows of a statement.
    pub async fn read(&mut self, statement: &Statement) -> Result<Vec<Row>, DriverError> {
        let is_last = std::mem::take(&mut self.ends_with_read);
        self.may_have_settings = true;
        let (mut rows, connection) = (Vec::new(), self.connection()?);
        let answering = statement.text.begin();
        let recording = recorder::begin(statement, StatementKind::Read);
        let result = if is_last {
            let (result, ended) =
                Box::pin(connection.run_and_commit(&answering.told(statement), &mut rows)).await;
            self.ended = ended;
            result
        } else {
            connection
                .run_in_transaction(&answering.told(statement), &mut rows)
                .await
                .map(drop)
        };

        answered(answering, &result);
        recording.inspect(|recording| recording.ended(result.is_ok().then_some(rows.len())));
        self.close_if_lost();

        self.conclude(result.map(|()| rows))
    }

    /// Runs a statement that writes; `rows` receives the rows that arrived, even if the statement
    /// fails.
    pub async fn write(
        &mut self,
        statement: &Statement,
        rows: &mut Vec<Row>,
    ) -> Result<u64, DriverError> {
        self.may_have_settings = true;
        let connection = self.connection()?;
        connection.session.run(statement);
        let answering = statement.text.begin();
        let recording = recorder::begin(statement, StatementKind::Write);
        let result = connection
            .run_in_transaction(&answering.told(statement), rows)
            .await;
        answered(answering, &result);
        recording.inspect(|recording| recording.ended(result.is_ok().then_some(rows.len())));

        self.conclude(result)
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// [`DriverError::OutcomeUnknown`] when the transaction may or may not have been committed.
    /// After any other error, nothing was kept.
    pub async fn commit(&mut self) -> Result<(), DriverError> {
        if let Some(ended) = self.take_end() {
            self.note_retry_cause(&ended);
            return ended;
        }

        if self.slot.is_none() {
            return Err(DriverError::Closed);
        }

        let committed = self.end(COMMIT).await.map_err(|error| {
            let fatal = [Some(Severity::Fatal), Some(Severity::Panic)];
            match &error {
                DriverError::Postgres(failed)
                    if failed.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION) =>
                {
                    DriverError::TransactionFailed
                }
                // PostgreSQL may end a session between the commit and its response.
                error
                    if error
                        .of_database()
                        .is_some_and(|error| fatal.contains(&error.parsed_severity())) =>
                {
                    DriverError::OutcomeUnknown
                }
                error if error.is_in_doubt() => DriverError::OutcomeUnknown,
                _ => error,
            }
        });

        self.conclude(committed)
    }

    /// The reason why it may be run again, if PostgreSQL has rolled it back for one.
    pub fn retry_cause(&self) -> Option<RetryCause> {
        self.retry_cause
    }

    /// Whether it has ended, or its last statement has failed or was dropped. After a failure,
    /// PostgreSQL rejects everything but a rollback, to the beginning or to a savepoint.
    pub fn has_failed(&self) -> bool {
        self.slot.is_none() || self.last != Last::Succeeded
    }

    /// Whether it is the transaction of all mutations of an operation.
    pub fn is_of_operation(&self) -> bool {
        self.is_of_operation
    }

    fn note_retry_cause<T>(&mut self, result: &Result<T, DriverError>) {
        self.retry_cause = match result {
            Ok(_) => self.retry_cause,
            // It may have been committed, whatever has failed before.
            Err(DriverError::OutcomeUnknown) => None,
            Err(error) => self.retry_cause.or(error.retry_cause()),
        };
    }

    /// Rolls the transaction back.
    pub async fn roll_back(&mut self) -> Result<(), DriverError> {
        let undone = self.end("ROLLBACK").await;
        self.conclude(undone)
    }

    async fn end(&mut self, sql: &str) -> Result<(), DriverError> {
        self.connection()?.end(sql).await
    }

    /// Returns the connection and records that a statement begins.
    fn connection(&mut self) -> Result<&mut Connection, DriverError> {
        let Some(slot) = self.slot.as_mut() else {
            return Err(match self.is_of_operation {
                true => DriverError::TransactionEnded,
                false => DriverError::Closed,
            });
        };

        // It is never committed after a dropped statement, so nothing waits for that one.
        if self.is_of_operation && self.last == Last::Running {
            return Err(DriverError::TransactionFailed);
        }

        let beat = slot.pool().watches.now();
        let connection = slot.connection()?;
        connection.begin(beat);
        self.last = Last::Running;

        Ok(connection)
    }

    /// Closes a connection that was lost during the commit, after the rows of the last read.
    fn close_if_lost(&mut self) {
        let is_lost = |ended: &Result<(), DriverError>| {
            ended
                .as_ref()
                .is_err_and(|error| !error.leaves_connection_usable())
        };
        if let (Some(slot), true) = (&mut self.slot, self.ended.as_ref().is_some_and(is_lost)) {
            slot.close();
        }
    }

    /// Ends a statement. The slot goes back if its connection is lost or the transaction is over.
    fn conclude<T>(&mut self, result: Result<T, DriverError>) -> Result<T, DriverError> {
        self.note_retry_cause(&result);
        self.last = match result {
            Ok(_) => Last::Succeeded,
            Err(_) => Last::Failed,
        };
        let Some(mut slot) = self.slot.take() else {
            return result;
        };
        if let Ok(connection) = slot.connection() {
            connection.watch().end();
        }

        let result = slot.conclude(result);
        if slot
            .connection()
            .is_ok_and(|connection| connection.in_transaction)
        {
            self.slot = Some(slot);
        }

        result
    }
}

impl OpenTransaction {
    /// Rolls it back, if it has not ended. Later statements fail.
    async fn undo(&mut self) {
        // A rollback would wait for a dropped statement.
        let is_undone = self.last != Last::Running && self.roll_back().await.is_ok();
        if !is_undone {
            self.abandon();
        }
    }

    /// Rolls it back in the background, if it has not ended.
    fn abandon(&mut self) {
        if let Some(slot) = self.slot.take() {
            super::pool::finish_or_cancel(slot);
        }
    }
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        self.abandon();
    }
}

impl std::fmt::Debug for OpenTransaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTransaction")
            .field("is_open", &self.slot.is_some())
            .finish_non_exhaustive()
    }
}

impl Connection {
    async fn open_transaction(
        &mut self,
        session: &Session,
        isolation: Isolation,
    ) -> Result<(), DriverError> {
        let setup = match session.setup() {
            Some(setup) => Some((setup, self.prepared(setup).await?)),
            None => None,
        };

        let mut begin = isolation.begin();
        if isolation == Isolation::AtLeastSnapshot && self.is_serializable().await? {
            begin = "BEGIN ISOLATION LEVEL SERIALIZABLE";
        }

        // Set before `BEGIN` is sent, so that a request which is dropped meanwhile is rolled back.
        self.in_transaction = true;
        let (switch, begin) = (self.session.switch(false), self.session.begin(begin, false));
        let (client, answered, mut settings) = (&self.client, &self.answered, Vec::new());
        let all = join3(
            switch_back(client, switch),
            client.batch_execute(&begin),
            async {
                match &setup {
                    Some((setup, prepared)) => {
                        rows(client, answered, prepared, setup, &mut settings).await
                    }
                    None => Ok(()),
                }
            },
        );

        let ((), begun, set) = self.wire.drive(all.map(Ok::<_, DriverError>)).await?;
        begun?;
        if set.is_err() {
            self.forget(session.setup(), None);
        }

        Ok(set?)
    }

    /// Whether transactions are serializable by default.
    async fn is_serializable(&mut self) -> Result<bool, DriverError> {
        let show = self
            .client
            .simple_query("SHOW default_transaction_isolation");
        let answer = self.wire.drive(show).await?;
        Ok(answer.iter().any(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0) == Some("serializable"),
            _ => false,
        }))
    }

    /// Runs a statement of a transaction. Returns the number of rows it wrote or read. A stale
    /// statement fails, as its transaction cannot continue.
    async fn run_in_transaction(
        &mut self,
        statement: &Statement,
        rows: &mut Vec<Row>,
    ) -> Result<u64, DriverError> {
        let result = match self.prepared(statement).await {
            Ok(prepared) => {
                let run = async {
                    let bound = statement.params.iter().map(Bound);
                    let mut stream = pin!(self.client.query_raw(&prepared, bound).await?);
                    while let Some(row) = stream.try_next().await? {
                        rows.push(row);
                    }
                    Ok::<_, tokio_postgres::Error>(stream.rows_affected().unwrap_or(0))
                };

                // PostgreSQL's own error takes precedence over the loss of the connection after it.
                self.wire
                    .drive(run.map(Ok::<_, DriverError>))
                    .await
                    .and_then(|run| Ok(run?))
            }
            Err(error) => Err(error),
        };

        if result.as_ref().is_err_and(DriverError::shows_change) {
            self.found_stale = true;
            self.forget(None, Some(statement));
        }

        result
    }
}
