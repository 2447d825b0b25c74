//! Transaction starts and ends without their own round trip: the first statement starts it, and the
//! last one commits it.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::{join, join5};
use tokio_postgres::Row;

use super::{Isolation, OpenTransaction};
use crate::driver::connection::{Connection, Progress, drive_and_reset, switch_back};
use crate::driver::error::answered;
use crate::driver::{Driver, DriverError};
use crate::statement::recorder::{self, StatementKind};
use crate::{Session, Statement};

/// Lets PostgreSQL plan each statement for its actual values, until the end of the transaction at the
/// latest.
const PLAN_FOR_VALUES: &str = "SET LOCAL plan_cache_mode = force_custom_plan";

/// Ends the effect of [`PLAN_FOR_VALUES`]. The session's own setting is not changed, so a rollback
/// leaves nothing behind.
const PLAN_BY_DEFAULT: &str = "SET LOCAL plan_cache_mode TO DEFAULT";

impl Driver {
    /// Starts a transaction with its first statement, in one round trip. Everything is sent again
    /// if it meets a connection that died in the pool: nothing is kept without the commit, which is
    /// sent later.
    pub(crate) async fn begin_with(
        &self,
        session: &Session,
        isolation: Isolation,
        statement: &Statement,
        rows: &mut Vec<Row>,
    ) -> Result<OpenTransaction, DriverError> {
        for _ in 0..=self.pool.size {
            let mut transaction = OpenTransaction::of(self.pool.acquire().await?.owned());
            let connection = transaction.connection()?;
            connection.session.run(statement);
            let answering = statement.text.begin();
            let recording = recorder::begin(statement, StatementKind::Write);
            let has_begun = AtomicBool::new(false);
            let begun = connection
                .begin_with(
                    session,
                    isolation,
                    &answering.told(statement),
                    &has_begun,
                    rows,
                )
                .await;

            answered(answering, &begun);
            recording.inspect(|recording| recording.ended(begun.is_ok().then_some(rows.len())));

            match transaction.conclude(begun) {
                // A response to `BEGIN` proves that the connection was alive: the statement itself
                // may have ended it, and must not be sent again.
                Err(error) if error.is_lost_connection() && !has_begun.load(Ordering::Relaxed) => {
                    self.pool.close_dead();
                }
                result => return result.map(|()| transaction),
            }
        }

        Err(DriverError::Closed)
    }
}

impl Connection {
    /// Starts a transaction and runs its first statement; records when PostgreSQL has started it.
    async fn begin_with(
        &mut self,
        session: &Session,
        isolation: Isolation,
        statement: &Statement,
        has_begun: &AtomicBool,
        rows: &mut Vec<Row>,
    ) -> Result<(), DriverError> {
        // Nothing has run while statements are prepared.
        let prepared = self.prepared(statement).await?;
        let setup = match session.setup() {
            Some(setup) => Some((setup, self.prepared(setup).await?)),
            None => None,
        };

        self.in_transaction = true;
        let (switch, begin) = (
            self.session.switch(false),
            self.begin_text(isolation, statement.replan),
        );
        let (before, progress) = (Progress::new(), Progress::new());
        let (client, mut settings) = (&self.client, Vec::new());
        let all = join5(
            switch_back(client, switch),
            async {
                let begun = client.batch_execute(&begin).await;
                has_begun.store(begun.is_ok(), Ordering::Relaxed);
                begun
            },
            async {
                match &setup {
                    Some((setup, prepared)) => {
                        before.run(client, prepared, setup, &mut settings).await
                    }
                    None => Ok(()),
                }
            },
            progress.run(client, &prepared, statement, rows),
            async {
                // Only the first statement is planned for its values; statements in triggers, for
                // example, are planned once.
                match statement.replan {
                    true => client.batch_execute(PLAN_BY_DEFAULT).await,
                    false => Ok(()),
                }
            },
        );

        let ((), begun, set, run, planned) = self.wire.drive(all.map(Ok::<_, DriverError>)).await?;
        let result = begun.and(set).and(run).and(planned);
        let result = result.map_err(DriverError::from);
        if result.as_ref().is_err_and(DriverError::shows_change) {
            self.found_stale = true;
            self.forget(session.setup(), Some(statement));
        }

        result
    }

    /// The statement that starts a transaction. With `replans`, PostgreSQL plans for the actual
    /// values, until [`PLAN_BY_DEFAULT`].
    fn begin_text(&self, isolation: Isolation, replans: bool) -> Cow<'static, str> {
        let begin = self.session.begin(isolation.begin(), false);
        match replans {
            true => Cow::Owned(format!("{begin}; {PLAN_FOR_VALUES}")),
            false => begin,
        }
    }

    /// Runs the last statement of a transaction and commits it. Returns the result of each. The
    /// commit is not sent if the statement could not be prepared.
    pub(super) async fn run_and_commit(
        &mut self,
        statement: &Statement,
        rows: &mut Vec<Row>,
    ) -> (Result<(), DriverError>, Option<Result<(), DriverError>>) {
        let prepared = match self.prepared(statement).await {
            Ok(prepared) => prepared,
            Err(error) => return (Err(error), None),
        };

        let progress = Progress::new();

        // In a failed transaction, PostgreSQL treats it as a `ROLLBACK`; the statement's error
        // reports that.
        let end = self.session.end("COMMIT");
        let both = join(
            progress.run(&self.client, &prepared, statement, rows),
            self.client.batch_execute(&end),
        );
        let ended = drive_and_reset(&self.client, &mut self.wire, &mut self.session, both).await;

        // Also after an error: `COMMIT` ends a failed transaction too, and a lost connection is
        // closed.
        self.in_transaction = false;

        match ended {
            Ok((Ok(()), ended)) => (
                Ok(()),
                Some(ended.map_err(|error| progress.judge(error.into()))),
            ),
            Ok((Err(error), _)) => self.failed_last(statement, progress.judge(error.into())),
            Err(error) => self.failed_last(statement, progress.judge(error)),
        }
    }

    /// The last statement of a transaction has failed: nothing was kept, unless the outcome is
    /// unknown.
    fn failed_last(
        &mut self,
        statement: &Statement,
        error: DriverError,
    ) -> (Result<(), DriverError>, Option<Result<(), DriverError>>) {
        if error.shows_change() {
            self.found_stale = true;
            self.forget(None, Some(statement));
        }

        let ended = match error {
            DriverError::OutcomeUnknown => DriverError::OutcomeUnknown,
            _ => DriverError::TransactionFailed,
        };

        (Err(error), Some(Err(ended)))
    }
}
