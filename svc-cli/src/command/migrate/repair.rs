//! `svc migrate repair`.

use tokio_postgres::Client;

use super::files::{self, File, Kind};
use super::plan::State;
use super::shadow::{self, Differences, Inventory};
use super::{connect, failed, history, plan};
use crate::database::Target;
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// The maximum number of differences listed.
const NAMED: usize = 5;

/// Corrects the record, and nothing else in the database.
pub(super) async fn run(project: &Project) -> Result<()> {
    let client = &connect(project).await?;
    let files = files::all(project)?;
    history::lock(client).await?;
    history::create(client).await?;
    let history = history::read(client).await?;
    refuse_undone(project, client, &files, &history).await?;
    client
        .batch_execute("BEGIN")
        .await
        .map_err(|error| failed(&error))?;
    let mut repaired = 0;
    for file in &files {
        match (plan::state(file, &history), file.kind) {
            (State::Changed, Kind::Migration) => {
                history::record(client, file, true).await?;
                terminal::done(format_args!(
                    "{} was recorded in its current version, but not run",
                    file.path
                ));
            }
            (State::Interrupted, _) => {
                history::forget(client, &file.path).await?;
                terminal::done(format_args!("{} will run again", file.path));
            }
            _ => continue,
        }

        repaired += 1;
    }

    for entry in plan::missing(&files, &history) {
        // Without its record, no later run would drop the objects that the file has created.
        if plan::is_repeatable(entry) {
            terminal::say(format_args!(
                "{} was deleted; the next `svc migrate up` drops its objects",
                entry.path
            ));
            continue;
        }

        history::forget(client, &entry.path).await?;
        terminal::done(format_args!(
            "the record of {} was removed: the project does not have the file",
            entry.path
        ));
        repaired += 1;
    }

    client
        .batch_execute("COMMIT")
        .await
        .map_err(|error| failed(&error))?;
    if repaired == 0 {
        terminal::say("there is nothing to repair");
    }

    Ok(())
}

/// Refuses to record the current version of a migration if the database does not have the objects
/// that it creates: the migrations that the record lists are run on an empty database, and each of
/// its tables, columns, constraints, indexes and types has to be in this one too.
async fn refuse_undone(
    project: &Project,
    client: &Client,
    files: &[File],
    history: &[history::Entry],
) -> Result<()> {
    let states = |wanted: &[State]| {
        let is_wanted = |file: &&File| {
            file.kind == Kind::Migration && wanted.contains(&plan::state(file, history))
        };
        files.iter().filter(is_wanted).cloned().collect::<Vec<_>>()
    };

    let changed = states(&[State::Changed]);
    let Some(first) = changed.first() else {
        return Ok(());
    };

    // This database need not have the objects of pending migrations.
    let migrations = states(&[State::Applied, State::Changed]);
    let Some(replayed) = replay(project, files, &migrations).await? else {
        return Ok(());
    };

    let differences = replayed
        .of_tables()
        .compare(&Inventory::read(client).await?.of_tables());
    let undone = undone(&differences);
    if undone.is_empty() {
        return Ok(());
    }

    let message = format!(
        "the database does not match the current version of {}: {}",
        first.path,
        undone.join("; ")
    );

    Err(Failure::new(message)
        .hint("repair runs no files: undo the change, and put it into a new migration: svc migrate new NAME")
        .hint("or start over, if you can lose the rows: svc db reset"))
}

/// The schema that migrations create on an empty database, together with the files of the schema if
/// these run; `None`, after a warning, if the migrations cannot run there.
async fn replay(
    project: &Project,
    files: &[File],
    migrations: &[File],
) -> Result<Option<Inventory>> {
    let schema = files
        .iter()
        .filter(|file| file.kind == Kind::Schema)
        .cloned();
    let both: Vec<File> = migrations.iter().cloned().chain(schema).collect();
    let target = Target::parse(&project.database_url()?)?;
    let mut replayed = shadow::replay(&target, &both).await;

    if replayed.is_err() {
        // Views of the schema may require a pending migration.
        replayed = shadow::replay(&target, migrations).await;
    }

    match replayed {
        Ok(Ok(made)) => Ok(Some(made)),
        Ok(Err(failure)) | Err(failure) => {
            terminal::warning(format_args!(
                "{}, so it was not compared with the database",
                failure.message()
            ));
            Ok(None)
        }
    }
}

/// The first items that a database lacks or has in another form, for a message.
fn undone(differences: &Differences) -> Vec<String> {
    let missing = differences.missing.iter();
    let other = differences.other.iter();

    missing
        .map(|item| format!("it lacks {item}"))
        .chain(other.map(|item| format!("it has a different definition of {item}")))
        .take(NAMED)
        .collect()
}
