//! `svc migrate check`.

use super::files::{self, File, Kind};
use super::lost::Views;
use super::{apply, connect, failed, hazards, history, plan};
use crate::database;
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

pub(super) fn run(project: &Project, strict: bool) -> Result<()> {
    let mut files = files::read(project, Kind::Schema)?;
    files.extend(files::read(project, Kind::Migration)?);
    for file in &files {
        file.statements()?;
    }
    terminal::done(format_args!("{} files can be read", files.len()));
    let warnings = database::block_on(async {
        let Some(client) = reachable(project).await else { return Ok(warn_of_hazards(files.iter())) };
        let history = history::read(&client).await?;
        apply::refuse(&files, &history)?;
        let pending = plan::to_run(&files, &history);
        let hazards = warn_of_hazards(pending.iter().copied());
        Ok(hazards + try_out(&client, &pending).await?)
    })?;
    if warnings == 0 || !strict {
        return Ok(());
    }
    Err(Failure::new(format!("there are {warnings} warnings"))
        .hint("change the files as they say, or accept a rule in its file: -- squawk-ignore RULE"))
}

/// The database, where one is set and answers.
async fn reachable(project: &Project) -> Option<tokio_postgres::Client> {
    if project.database_url().is_err() {
        terminal::warning("no database is set, so nothing was tried");
        return None;
    }
    match connect(project).await {
        Ok(client) => Some(client),
        Err(failure) => {
            terminal::warning(format_args!("{}, so nothing was tried", failure.message()));
            None
        }
    }
}

/// Warns of dangerous locks and rewrites, and returns how many there are.
fn warn_of_hazards<'a>(files: impl Iterator<Item = &'a File>) -> usize {
    let hazards: Vec<_> = files.flat_map(hazards::of).collect();
    for hazard in &hazards {
        terminal::warning(format_args!("{}: {} ({})", hazard.place, hazard.message, hazard.rule));
        if let Some(help) = &hazard.help {
            terminal::hint(help);
        }
    }
    hazards.len()
}

/// Runs what is pending in one transaction, warns of views that it takes away, and undoes it.
async fn try_out(client: &tokio_postgres::Client, pending: &[&File]) -> Result<usize> {
    let before = Views::read(client).await?;
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
        apply::run(client, file).await?;
        tried += 1;
    }
    // Constraints that are checked at the end.
    client
        .batch_execute("SET CONSTRAINTS ALL IMMEDIATE")
        .await
        .map_err(|error| Failure::new(format!("the pending files break a constraint: {}", database::reason(&error))))?;
    let lost = before.lost(&Views::read(client).await?);
    client.batch_execute("ROLLBACK").await.map_err(|error| failed(&error))?;
    for what in &lost {
        terminal::warning(format_args!("{what}, which a service that runs may read"));
    }
    match tried {
        0 if pending.is_empty() => terminal::done("no file is pending"),
        0 => {}
        1 => terminal::done("1 pending file runs on the database, and was undone"),
        _ => terminal::done(format_args!("{tried} pending files run on the database, and were undone")),
    }
    Ok(lost.len())
}
