//! `svc migrate up`.

use std::time::{Duration, Instant};

use tokio_postgres::Client;
use tokio_postgres::error::{ErrorPosition, SqlState};

use super::failed;
use super::files::{self, File, Kind};
use super::history;
use super::plan::{self, State};
use crate::database::{Statement, reason};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// Errors of making what is there already.
const EXISTS: [&SqlState; 5] = [
    &SqlState::DUPLICATE_SCHEMA,
    &SqlState::DUPLICATE_TABLE,
    &SqlState::DUPLICATE_COLUMN,
    &SqlState::DUPLICATE_FUNCTION,
    &SqlState::DUPLICATE_OBJECT,
];

/// The result of an `up`.
#[derive(Debug)]
#[must_use]
pub(crate) struct Outcome {
    applied: usize,
}

impl Outcome {
    /// The number of files that it has run.
    pub(crate) fn applied(&self) -> usize {
        self.applied
    }

    /// Tells it.
    #[expect(clippy::unnecessary_wraps, reason = "the last step of a command")]
    pub(crate) fn tell(self) -> Result<()> {
        match self.applied {
            0 => terminal::say("the database is up to date"),
            1 => terminal::say("1 file is applied"),
            count => terminal::say(format_args!("{count} files are applied")),
        }
        Ok(())
    }
}

/// Brings a database up to date.
pub(crate) async fn up(project: &Project, client: &mut Client, lock_timeout: Duration) -> Result<Outcome> {
    let mut files = files::read(project, Kind::Schema)?;
    files.extend(files::read(project, Kind::Migration)?);
    history::lock(client).await?;
    history::create(client).await?;
    let history = history::read(client).await?;
    refuse(&files, &history)?;
    for entry in plan::missing(&files, &history) {
        terminal::warning(format_args!("the database has {}, which this project does not have", entry.path));
    }
    let pending = plan::to_run(&files, &history);
    for file in &pending {
        let begun = Instant::now();
        apply(client, file, lock_timeout).await?;
        terminal::done(format_args!("{} ({} ms)", file.path, begun.elapsed().as_millis()));
    }
    Ok(Outcome { applied: pending.len() })
}

/// Runs all files of a kind, such as seeds, without a record.
pub(crate) async fn run_all(project: &Project, client: &Client, kind: Kind) -> Result<usize> {
    let files = files::read(project, kind)?;
    for file in &files {
        client.batch_execute("BEGIN").await.map_err(|error| failed(&error))?;
        run(client, file).await?;
        client.batch_execute("COMMIT").await.map_err(|error| in_file(&error, file))?;
        terminal::done(&file.path);
    }
    Ok(files.len())
}

/// Refuses what nobody can decide but the user.
pub(super) fn refuse(files: &[File], history: &[history::Entry]) -> Result<()> {
    for file in files {
        let failure = match (plan::state(file, history), file.kind) {
            (State::Changed, Kind::Migration) => {
                Failure::new(format!("{} has changed since this database ran it", file.path))
                    .hint("undo the change and put it into a new migration: svc migrate new NAME")
                    .hint("if the database is as the file says now: svc migrate repair")
            }
            (State::Interrupted, _) => Failure::new(format!("{} was interrupted outside of a transaction", file.path))
                .hint("look at what it has left, such as an invalid index, and drop that")
                .hint("then have it run again: svc migrate repair, svc migrate up"),
            _ => continue,
        };
        return Err(failure);
    }
    Ok(())
}

/// Runs a file and records it: both or neither, unless it runs outside of a transaction.
async fn apply(client: &Client, file: &File, lock_timeout: Duration) -> Result<()> {
    // A file may have set something for the session, such as its search path.
    let settings = format!("RESET ALL; SET lock_timeout = {}", lock_timeout.as_millis());
    client.batch_execute(&settings).await.map_err(|error| failed(&error))?;
    if !file.in_transaction() {
        history::record(client, file, false).await?;
        run(client, file).await?;
        return history::record(client, file, true).await;
    }
    client.batch_execute("BEGIN").await.map_err(|error| failed(&error))?;
    run(client, file).await?;
    // Whatever the file has set for the search path, the record is in a schema of its own.
    history::record(client, file, true).await?;
    client.batch_execute("COMMIT").await.map_err(|error| in_file(&error, file))
}

/// Runs the statements of a file in the transaction that is open, if one is.
pub(super) async fn run(client: &Client, file: &File) -> Result<()> {
    for statement in file.statements()? {
        if let Err(error) = client.batch_execute(statement.text).await {
            return Err(in_statement(&error, file, &statement));
        }
    }
    Ok(())
}

fn in_statement(error: &tokio_postgres::Error, file: &File, statement: &Statement<'_>) -> Failure {
    let position = error.as_db_error().and_then(|error| error.position());
    let line = match position {
        Some(ErrorPosition::Original(character)) => {
            let before = (*character as usize).saturating_sub(1);
            statement.line + statement.text.chars().take(before).filter(|c| *c == '\n').count()
        }
        _ => statement.line,
    };
    let failure = Failure::new(format!("{}:{line}: {}", file.path, reason(error)));
    failure.hints(hints(error, file).into_iter().map(str::to_owned))
}

fn hints(error: &tokio_postgres::Error, file: &File) -> Vec<&'static str> {
    let mut hints = Vec::new();
    match error.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            return vec!["others hold a lock on what it changes; try again, or wait longer: --lock-timeout 60"];
        }
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            return vec!["the user of SVC_DATABASE_URL may not do that; run it as the owner"];
        }
        Some(&SqlState::UNIQUE_VIOLATION) if file.kind == Kind::Seed => {
            hints.push("the row is there already; with ON CONFLICT DO NOTHING the file can be run again");
        }
        Some(code) if EXISTS.contains(&code) && file.kind != Kind::Seed => {
            hints.push(
                "if the database has all that pending files make, record them without a run: svc migrate baseline",
            );
        }
        _ => {}
    }
    hints.push(match file.kind {
        Kind::Seed => "nothing of this file is done; correct it and run `svc db seed` again",
        _ if file.in_transaction() => "nothing of this file is done; correct it and run `svc migrate up` again",
        _ => "what the statements before it have done stays; correct it, then svc migrate repair",
    });
    hints
}

fn in_file(error: &tokio_postgres::Error, file: &File) -> Failure {
    Failure::new(format!("{}: {}", file.path, reason(error)))
}
