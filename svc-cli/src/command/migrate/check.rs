//! `svc migrate check`.

use std::time::Duration;

use tokio_postgres::Client;

use super::files::{self, File};
use super::lost::Views;
use super::plan::Plan;
use super::run::Mode;
use super::shadow::{self, Differences, Inventory};
use super::{apply, connect, failed, hazards, history};
use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// The maximum wait for a lock held by others.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn run(project: &Project, strict: bool) -> Result<()> {
    let files = files::all(project)?;
    for file in &files {
        file.statements()?;
    }

    match files.len() {
        1 => terminal::done("1 file can be read"),
        count => terminal::done(format_args!("{count} files can be read")),
    }

    let warnings = database::block_on(async {
        // Without the record of a database, any file may be pending, so all of them are examined.
        let Some(client) = reachable(project).await else {
            return Ok(warn_of_hazards(files.iter()));
        };
        let history = history::read(&client).await?;
        apply::refuse(&files, &history)?;
        let plan = Plan::new(&files, &history);
        let hazards = warn_of_hazards(plan.files());
        let (lost, after) = try_out(&client, &plan).await?;
        Ok(hazards + lost + replay(project, &files, after).await?)
    })?;

    if warnings == 0 || !strict {
        return Ok(());
    }

    let count = if warnings == 1 {
        "there is 1 warning".to_owned()
    } else {
        format!("there are {warnings} warnings")
    };

    Err(Failure::new(count)
        .hint("change the files as suggested, or accept a rule in the file: -- squawk-ignore RULE"))
}

/// The database, if one is set and responds.
async fn reachable(project: &Project) -> Option<Client> {
    if project.database_url().is_err() {
        terminal::warning("no database URL is set, so no file was tried");
        return None;
    }

    match connect(project).await {
        Ok(client) => Some(client),
        Err(failure) => {
            terminal::warning(format_args!("{}, so no file was tried", failure.message()));
            None
        }
    }
}

/// Warns about dangerous locks and rewrites, and returns their number.
fn warn_of_hazards<'a>(files: impl Iterator<Item = &'a File>) -> usize {
    let hazards: Vec<_> = files.flat_map(hazards::of).collect();
    for hazard in &hazards {
        terminal::warning(format_args!(
            "{}: {} ({})",
            hazard.place, hazard.message, hazard.rule
        ));
        if let Some(help) = &hazard.help {
            terminal::hint(help);
        }
    }

    hazards.len()
}

/// Runs the pending files in one transaction, warns about views that they drop, and rolls it back.
///
/// Returns the number of warnings, and the schema that the database would have; `None` if not
/// everything was tried.
async fn try_out(client: &Client, plan: &Plan<'_>) -> Result<(usize, Option<Inventory>)> {
    let before = Views::read(client).await?;
    client
        .batch_execute("BEGIN")
        .await
        .map_err(|error| failed(&error))?;

    let part = part_in_transaction(plan);
    let plan = part.as_ref().unwrap_or(plan);
    let mut is_whole = part.is_none();
    match apply::run(client, plan, Mode::TryOut, LOCK_TIMEOUT).await {
        // The label is only usable after a commit, which `up` does.
        Err(stop) if stop.is_new_label() => is_whole = false,
        tried => tried.map_err(|stop| reworded(&stop.into()))?,
    }

    if !is_whole && part.is_none() {
        client
            .batch_execute("ROLLBACK")
            .await
            .map_err(|error| failed(&error))?;
        terminal::warning(
            "a file uses a label that a pending migration adds, so the pending files were not tried",
        );
        return Ok((0, None));
    }

    // Deferred constraints are checked at a commit, which this transaction never reaches.
    client
        .batch_execute("SET CONSTRAINTS ALL IMMEDIATE")
        .await
        .map_err(|error| {
            Failure::new(format!(
                "the pending files violate a constraint: {}",
                database::reason(&error)
            ))
        })?;

    let lost = before.lost(&Views::read(client).await?);
    let after = if is_whole {
        Some(Inventory::read(client).await?)
    } else {
        None
    };

    client
        .batch_execute("ROLLBACK")
        .await
        .map_err(|error| failed(&error))?;
    for what in &lost {
        terminal::warning(format_args!("{what}, which a running service may read"));
    }

    match plan.count() {
        0 if part.is_none() => terminal::done("no file is pending"),
        0 => {}
        1 => terminal::done("1 pending file ran on the database, and was rolled back"),
        tried => terminal::done(format_args!(
            "{tried} pending files ran on the database, and were rolled back"
        )),
    }

    Ok((lost.len(), after))
}

/// Returns the plan up to the first migration that runs outside of a transaction, after a warning;
/// `None` if there is no such migration.
fn part_in_transaction<'a>(plan: &Plan<'a>) -> Option<Plan<'a>> {
    let at = plan
        .migrations
        .iter()
        .position(|file| !file.in_transaction())?;
    terminal::warning(format_args!(
        "{} runs outside of a transaction, so it and the files after it were not tried",
        plan.migrations[at].path
    ));

    Some(Plan {
        migrations: plan.migrations[..at].to_vec(),
        // The files of the schema may require the migrations that are left out.
        repeatable: Vec::new(),
        ..plan.clone()
    })
}

/// A failure of files that are only tried, with hints adapted from the ones for applying a file.
fn reworded(failure: &Failure) -> Failure {
    let hint = |hint: &String| match hint.split_once("fix it and run `svc migrate up` again") {
        Some(_) => "fix it and run `svc migrate check` again".to_owned(),
        None => hint.clone(),
    };
    Failure::new(failure.message()).hints(failure.hints_of().iter().map(hint))
}

/// Runs all files on an empty database, and compares the result with the schema that this database
/// would have.
///
/// Returns the number of warnings.
async fn replay(project: &Project, files: &[File], after: Option<Inventory>) -> Result<usize> {
    let target = Target::parse(&project.database_url()?)?;
    let replayed = shadow::replay(&target, files).await.map_err(|failure| {
        let failure = reworded(&failure);
        Failure::new(format!("on an empty database, {}", failure.message())).hints(failure.hints_of().to_vec())
            .hint("a new database runs all files, so this also fails for other developers, tests and CI; put tables and their changes into db/migrations, and views and functions into db/schema")
    })?;

    let made = match replayed {
        Ok(made) => made,
        Err(failure) => {
            terminal::warning(failure.message());
            return Ok(0);
        }
    };

    terminal::done("all files run on an empty database");
    let Some(after) = after else { return Ok(0) };
    let Differences {
        missing,
        other,
        extra,
    } = made.compare(&after);

    missing.iter().for_each(|item| {
        terminal::warning(format_args!(
            "the database lacks {item}, which the files create"
        ));
    });

    other.iter().for_each(|item| {
        terminal::warning(format_args!(
            "the database has a different definition of {item}"
        ));
    });
    extra.iter().for_each(|item| {
        terminal::warning(format_args!(
            "the database has {item}, which no file creates"
        ));
    });
    let count = missing.len() + other.len() + extra.len();
    if count == 0 {
        terminal::done("the database matches the files");
    } else {
        terminal::hint(
            "put manual changes into a file: svc migrate new NAME; or start over: svc db reset",
        );
    }

    Ok(count)
}
