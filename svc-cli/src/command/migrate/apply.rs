//! `svc migrate up`.

use std::time::Duration;

use tokio_postgres::Client;

use super::failed;
use super::files::{self, File, Kind};
use super::history;
use super::plan::{self, Plan, State};
use super::run::{self, Mode, Run, Stop};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// The maximum wait of a seed for a lock held by others.
const SEED_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The files that an `up` may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Migrations, and the files of `db/schema` after them.
    All,
    /// Only the files of `db/schema`: migrations wait until the user requests them.
    Repeatable,
}

/// The result of an `up`.
#[derive(Debug)]
#[must_use]
pub(crate) struct Outcome {
    applied: usize,
    /// The waiting migrations.
    pub(crate) waiting: Vec<String>,
}

impl Outcome {
    /// The number of files run.
    pub(crate) fn applied(&self) -> usize {
        self.applied
    }

    /// Reports it.
    #[expect(clippy::unnecessary_wraps, reason = "the last step of a command")]
    pub(crate) fn tell(self) -> Result<()> {
        match self.applied {
            0 if self.waiting.is_empty() => terminal::say("the database is up to date"),
            0 => {}
            1 => terminal::say("applied 1 file"),
            count => terminal::say(format_args!("applied {count} files")),
        }
        Ok(())
    }
}

/// Brings a database up to date.
pub(crate) async fn up(
    project: &Project,
    client: &Client,
    lock_timeout: Duration,
    scope: Scope,
) -> Result<Outcome> {
    let files = files::all(project)?;

    // The lock precedes the read: otherwise, two deployments that start together would plan the
    // same files.
    history::lock(client).await?;
    history::create(client).await?;
    let history = history::read(client).await?;
    refuse(&files, &history)?;
    let plan = Plan::new(&files, &history);
    warn(&plan, &plan::missing(&files, &history));
    let waiting: Vec<String> = match scope {
        Scope::All => Vec::new(),
        Scope::Repeatable => plan
            .migrations
            .iter()
            .map(|file| file.path.clone())
            .collect(),
    };

    let plan = if scope == Scope::All {
        plan
    } else {
        plan.without_migrations()
    };

    let waits = |stop: Stop| match waiting.first() {
        Some(path) if stop.is_missing() => stop.hint(format!(
            "{path} is pending and may create it: svc migrate up"
        )),
        _ => stop,
    };

    // Read before the run, which replaces the record of the objects.
    let recorded = history::objects(client).await?;
    run(client, &plan, Mode::Apply, lock_timeout)
        .await
        .map_err(waits)?;

    for path in plan.removed.iter().map(|entry| &entry.path) {
        if recorded.contains_key(path) {
            terminal::done(format_args!(
                "{path} was deleted, so its objects were dropped"
            ));
        } else {
            terminal::warning(format_args!(
                "{path} was deleted; its objects were not recorded, so they remain"
            ));
        }
    }

    Ok(Outcome {
        applied: plan.count(),
        waiting,
    })
}

/// Warns about files that do not run.
fn warn(plan: &Plan<'_>, missing: &[&history::Entry]) {
    for entry in missing.iter().filter(|entry| !plan.removed.contains(entry)) {
        terminal::warning(format_args!(
            "the database has {}, which this project does not have",
            entry.path
        ));
    }

    for file in &plan.unwritten {
        terminal::warning(format_args!(
            "{} has no statements yet, so it was not run",
            file.path
        ));
    }
}

/// Runs the files of a plan.
pub(super) async fn run(
    client: &Client,
    plan: &Plan<'_>,
    mode: Mode,
    lock_timeout: Duration,
) -> Result<(), Stop> {
    if plan.is_empty() {
        return Ok(());
    }

    let result = Run::new(client, plan, mode, lock_timeout)
        .await?
        .all()
        .await;

    match result {
        // A label cannot be used in the transaction that adds it: the label is added first, and the
        // rest is run again.
        Err(stop) if stop.is_new_label() && mode != Mode::TryOut => {
            // The migrations before the failing one may have been committed, so the history is read
            // once more.
            let files = files_left(client, plan).await?;
            if !run::add_labels(client, &files, lock_timeout).await? {
                return Err(stop);
            }

            let rest = Plan {
                migrations: files,
                ..plan.clone()
            };

            Run::new(client, &rest, mode, lock_timeout)
                .await?
                .all()
                .await
        }
        result => result,
    }
}

/// The migrations of a plan that are not recorded yet.
async fn files_left<'a>(client: &Client, plan: &Plan<'a>) -> Result<Vec<&'a File>> {
    let history = history::read(client).await?;
    let is_left = |file: &&&File| plan::state(file, &history) == State::Pending;
    Ok(plan.migrations.iter().filter(is_left).copied().collect())
}

/// Runs all files of a kind, such as seeds, without recording them.
pub(crate) async fn run_all(project: &Project, client: &Client, kind: Kind) -> Result<usize> {
    let files = files::read(project, kind)?;
    for file in &files {
        // An error returns without a rollback: the connection closes with the command, and
        // PostgreSQL then rolls the open transaction back.
        client
            .batch_execute("BEGIN")
            .await
            .map_err(|error| failed(&error))?;
        run::settings(client, SEED_LOCK_TIMEOUT).await?;
        for statement in file.statements()? {
            let ran = client.batch_execute(statement.text).await;
            ran.map_err(|error| Stop::in_statement(&error, file, &statement))?;
        }

        client
            .batch_execute("COMMIT")
            .await
            .map_err(|error| Stop::in_file(&error, file))?;

        terminal::done(&file.path);
    }

    Ok(files.len())
}

/// Rejects states that only the user can resolve.
pub(super) fn refuse(files: &[File], history: &[history::Entry]) -> Result<()> {
    for file in files {
        // A changed file of `db/schema` runs again, so only migrations are rejected.
        let failure = match (plan::state(file, history), file.kind) {
            (State::Changed, Kind::Migration) => Failure::new(format!(
                "{} has changed since this database ran it",
                file.path
            ))
            .hint("undo the change and put it into a new migration: svc migrate new NAME")
            .hint("if the database already matches the file: svc migrate repair"),
            (State::Interrupted, _) => Failure::new(format!(
                "{} was interrupted outside of a transaction",
                file.path
            ))
            .hint("inspect the partial result, such as an invalid index, and drop it")
            .hint("then run it again: svc migrate repair, svc migrate up"),
            _ => continue,
        };

        return Err(failure);
    }

    Ok(())
}
