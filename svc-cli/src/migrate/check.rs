//! `svc migrate check`.

use super::files::{self, File, Kind};
use super::{apply, connect, failed, history, plan};
use crate::database;
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

pub(super) fn run(project: &Project) -> Result<()> {
    let mut files = files::read(project, Kind::Schema)?;
    files.extend(files::read(project, Kind::Migration)?);
    for file in &files {
        file.statements()?;
    }
    terminal::done(format_args!("{} files can be read", files.len()));
    if project.database_url().is_err() {
        terminal::warning("no database is set, so nothing was tried");
        return Ok(());
    }
    database::block_on(try_pending(project, &files))
}

/// Runs what is pending in one transaction, and undoes it.
async fn try_pending(project: &Project, files: &[File]) -> Result<()> {
    let client = match connect(project).await {
        Ok(client) => client,
        Err(failure) => {
            terminal::warning(format_args!("{}, so nothing was tried", failure.message()));
            return Ok(());
        }
    };
    let history = history::read(&client).await?;
    let pending = plan::to_run(files, &history);
    client.batch_execute("BEGIN; SET LOCAL lock_timeout = '10s'").await.map_err(|error| failed(&error))?;
    let mut tried = 0;
    for file in pending {
        if !file.in_transaction() {
            terminal::warning(format_args!(
                "{} runs outside of a transaction, so it and those after it were not tried",
                file.path
            ));
            break;
        }
        apply::run(&client, file).await?;
        tried += 1;
    }
    // Constraints that are checked at the end.
    client
        .batch_execute("SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK")
        .await
        .map_err(|error| Failure::new(format!("the pending files break a constraint: {}", database::reason(&error))))?;
    terminal::done(format_args!("{tried} pending files run on {}, and were undone", "the database"));
    Ok(())
}
