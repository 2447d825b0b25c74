//! Runs files on a database: migrations first, then the files of `db/schema`.
//!
//! A migration runs in its own transaction. If it has to drop views, its transaction stays open
//! until the files of `db/schema` have recreated them, so that a service never sees a database
//! without them.

mod materialized;
mod objects;
mod order;
mod remake;
mod repeatable;
mod stop;
mod target;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::files::{File, Kind};
use super::plan::Plan;
use super::{failed, history};
use crate::database::Statement;
use crate::failure::Result;
use crate::terminal;
use objects::Interfaces;
use remake::Dropped;
use repeatable::Made;

pub(super) use objects::Id;
pub(super) use stop::Stop;

/// How files run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Each file is recorded, and reported when it is done.
    Apply,
    /// All files are rolled back at the end: one transaction, started by the caller.
    TryOut,
    /// On a temporary database: nothing is reported.
    Replay,
}

/// The progress of a plan's files on a database.
pub(super) struct Run<'a> {
    client: &'a Client,
    plan: &'a Plan<'a>,
    mode: Mode,
    lock_timeout: Duration,
    /// Whether a transaction stays open from one file to the next.
    is_open: bool,
    /// The objects to recreate.
    dropped: Vec<Dropped>,
    /// Files of the schema that have run before a migration that requires them.
    early: BTreeSet<String>,
    /// The interfaces before the first file.
    before: Interfaces,
    /// The lines to print once the open transaction is committed.
    told: Vec<String>,
    /// The objects created by the files of the schema.
    made: Made,
}

impl<'a> Run<'a> {
    pub(super) async fn new(
        client: &'a Client,
        plan: &'a Plan<'a>,
        mode: Mode,
        lock_timeout: Duration,
    ) -> Result<Self> {
        Ok(Self {
            client,
            plan,
            mode,
            lock_timeout,
            is_open: mode == Mode::TryOut,
            dropped: Vec::new(),
            early: BTreeSet::new(),
            before: Interfaces::read(client).await?,
            told: Vec::new(),
            made: Made::new(),
        })
    }

    /// Runs all files of the plan.
    pub(super) async fn all(mut self) -> Result<(), Stop> {
        let result = self.steps().await;
        // In a try-out, the transaction belongs to the caller, which rolls it back.
        if result.is_err() && self.is_open && self.mode != Mode::TryOut {
            // The file's error is the one to report.
            let _ = self.client.batch_execute("ROLLBACK").await;
        }
        result
    }

    async fn steps(&mut self) -> Result<(), Stop> {
        for file in &self.plan.migrations {
            self.migration(file).await?;
        }
        self.repeatable_files().await
    }

    async fn migration(&mut self, file: &File) -> Result<(), Stop> {
        let begun = Instant::now();
        if !file.in_transaction() {
            return self.outside(file, begun).await;
        }

        self.begin().await?;

        // The open transaction may hold earlier migrations, which a retry of this file must not
        // undo.
        self.execute("SAVEPOINT svc_file").await?;
        let dropped = self.dropped.len();
        if let Err(stop) = self.statements(file).await {
            self.execute("ROLLBACK TO svc_file").await?;
            // The rollback has brought back the objects that this file dropped.
            self.dropped.truncate(dropped);
            // The migration may need an object of `db/schema`, such as the function of its trigger.
            if !stop.is_missing() || !self.run_early().await? {
                return Err(self.explained(stop));
            }
            self.execute("SAVEPOINT svc_file").await?;
            self.statements(file)
                .await
                .map_err(|stop| self.explained(stop))?;
        }

        self.done(file, begun).await?;

        // Dropped objects are recreated before the commit, so that no client misses them.
        if self.dropped.is_empty() {
            self.commit(file).await
        } else {
            Ok(())
        }
    }

    /// Runs a migration that starts with `-- svc: no transaction`.
    async fn outside(&mut self, file: &File, begun: Instant) -> Result<(), Stop> {
        if self.mode == Mode::TryOut {
            return Ok(());
        }

        if self.is_open {
            let hint = format!(
                "{} runs outside of a transaction, so dropped objects must be created again before it",
                file.path
            );
            self.repeatable_files()
                .await
                .map_err(|stop| stop.hint(hint))?;
        }

        self.settings().await?;

        // Recorded first: if the process ends before the last statement, the record shows that a
        // part of the file may have run.
        history::record(self.client, file, false).await?;
        for statement in file.statements()? {
            let ran = self.client.batch_execute(statement.text).await;
            ran.map_err(|error| Stop::in_statement(&error, file, &statement))?;
        }

        // A role that the file has set may not write into the record.
        self.settings().await?;
        history::record(self.client, file, true).await?;
        self.tell(file, begun);

        Ok(())
    }

    /// Runs the statements of a file in the open transaction.
    async fn statements(&mut self, file: &File) -> Result<(), Stop> {
        self.settings().await?;
        for statement in file.statements()? {
            self.statement(file, &statement).await?;
        }

        // A role that the file has set may not write into the record.
        Ok(self.settings().await?)
    }

    async fn statement(&mut self, file: &File, statement: &Statement<'_>) -> Result<(), Stop> {
        let is_repeatable = file.kind == Kind::Schema;
        if is_repeatable && let Some(done) = self.materialized(file, statement).await? {
            return Ok(done);
        }

        self.execute("SAVEPOINT svc_statement").await?;
        let Err(error) = self.client.batch_execute(statement.text).await else {
            return Ok(self.execute("RELEASE svc_statement").await?);
        };

        self.execute("ROLLBACK TO svc_statement").await?;
        let code = error.code().cloned().unwrap_or(SqlState::INTERNAL_ERROR);
        if self.is_there_already(statement, &code) {
            return Ok(());
        }

        if is_repeatable
            && code == SqlState::DUPLICATE_OBJECT
            && let Some(drop) = target::drop_of_part(statement)
        {
            self.execute(&drop).await?;
            let made = self.client.batch_execute(statement.text).await;
            made.map_err(|error| Stop::in_statement(&error, file, statement))?;
            return Ok(self.execute("RELEASE svc_statement").await?);
        }

        // A failed attempt rolls back to the savepoint, which also brings back the objects dropped
        // for it.
        for room in remake::rooms(self.client, statement, &code, is_repeatable).await? {
            if let Ok(dropped) = remake::make(self.client, &room).await
                && !dropped.is_empty()
                && self.client.batch_execute(statement.text).await.is_ok()
            {
                self.dropped.extend(dropped);
                return Ok(self.execute("RELEASE svc_statement").await?);
            }
            self.execute("ROLLBACK TO svc_statement").await?;
        }

        Err(Stop::in_statement(&error, file, statement))
    }

    /// Recreates a materialized view unless it is unchanged; `None` for other statements, and if it
    /// does not exist.
    async fn materialized(
        &mut self,
        file: &File,
        statement: &Statement<'_>,
    ) -> Result<Option<()>, Stop> {
        let Some(room) = materialized::outdated(self.client, statement).await? else {
            return Ok(None);
        };

        let Some(room) = room else {
            return Ok(Some(()));
        };

        self.execute("SAVEPOINT svc_statement").await?;
        let replaced = async {
            let dropped = remake::make(self.client, &room).await?;
            self.client.batch_execute(statement.text).await?;
            Ok(dropped)
        };

        self.dropped.extend(
            replaced
                .await
                .map_err(|error| Stop::in_statement(&error, file, statement))?,
        );

        self.execute("RELEASE svc_statement").await?;

        Ok(Some(()))
    }

    /// Whether a statement creates an object that may exist already: a label that was added ahead
    /// of its migration, or, in a replay on a temporary database, a role, which all databases of a
    /// server share.
    fn is_there_already(&self, statement: &Statement<'_>, code: &SqlState) -> bool {
        let words = statement.words(2).join(" ");
        *code == SqlState::DUPLICATE_OBJECT
            && (words == "ALTER TYPE"
                || self.mode == Mode::Replay
                    && ["CREATE ROLE", "CREATE USER"].contains(&words.as_str()))
    }

    /// Starts a transaction, unless one is open.
    async fn begin(&mut self) -> Result<()> {
        if !self.is_open {
            self.execute("BEGIN").await?;
            self.is_open = true;
        }
        Ok(())
    }

    /// Ends the transaction.
    async fn commit(&mut self, file: &File) -> Result<(), Stop> {
        if self.mode == Mode::TryOut {
            return Ok(());
        }

        // Before the COMMIT, because a failed one ends the transaction as well.
        self.is_open = false;
        self.client
            .batch_execute("COMMIT")
            .await
            .map_err(|error| Stop::in_file(&error, file))?;
        self.told.drain(..).for_each(terminal::done);

        Ok(())
    }

    /// Records a file in the open transaction.
    async fn done(&mut self, file: &File, begun: Instant) -> Result<()> {
        if self.mode == Mode::TryOut {
            return Ok(());
        }

        history::record(self.client, file, true).await?;

        if self.mode == Mode::Apply {
            self.told.push(format!(
                "{} ({} ms)",
                file.path,
                begun.elapsed().as_millis()
            ));
        }

        Ok(())
    }

    fn tell(&self, file: &File, begun: Instant) {
        if self.mode == Mode::Apply {
            terminal::done(format_args!(
                "{} ({} ms)",
                file.path,
                begun.elapsed().as_millis()
            ));
        }
    }

    async fn settings(&self) -> Result<()> {
        settings(self.client, self.lock_timeout).await
    }

    async fn execute(&self, sql: &str) -> Result<()> {
        self.client
            .batch_execute(sql)
            .await
            .map_err(|error| failed(&error))
    }

    /// The failure of a migration, with a hint if it lacks an object that a file of the schema may
    /// create.
    fn explained(&self, stop: Stop) -> Stop {
        if !stop.is_missing() || self.plan.schema.is_empty() {
            return stop;
        }
        stop.hint(
            "migrations run before the files of db/schema: put tables into the first migration",
        )
    }
}

/// The settings of each file, regardless of an earlier file, which may have set something, such as a
/// search path or a role.
pub(super) async fn settings(client: &Client, lock_timeout: Duration) -> Result<()> {
    // `RESET ALL` leaves the role as it is.
    let timeout = lock_timeout.as_millis();
    let sql = format!(
        "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; \
         SET lock_timeout = {timeout}; SET client_min_messages = warning"
    );
    client
        .batch_execute(&sql)
        .await
        .map_err(|error| failed(&error))
}

/// Adds the labels of migrations before the transaction that uses them.
pub(super) async fn add_labels(
    client: &Client,
    migrations: &[&File],
    lock_timeout: Duration,
) -> Result<bool, Stop> {
    let mut added = false;

    // The rollback of the failed run has undone its settings. No transaction is open, so each label
    // is committed at once, and the next statement may use it.
    settings(client, lock_timeout).await?;
    for file in migrations.iter().filter(|file| file.in_transaction()) {
        for statement in file.statements()? {
            let words = statement.words(6);
            let is_label = words.starts_with(&["ALTER".to_owned(), "TYPE".to_owned()])
                && statement.text.to_ascii_uppercase().contains("ADD VALUE");
            if !is_label {
                continue;
            }

            match client.batch_execute(statement.text).await {
                Ok(()) => added = true,
                Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                    return Err(Stop::in_statement(&error, file, &statement));
                }
                // The type may be created by another migration; then its labels can be used
                // immediately.
                Err(_) => {}
            }
        }
    }

    Ok(added)
}
