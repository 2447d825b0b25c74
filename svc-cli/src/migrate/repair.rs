//! `svc migrate repair`.

use tokio_postgres::Client;

use super::files::{self, Kind};
use super::plan::State;
use super::{failed, history, plan};
use crate::failure::Result;
use crate::project::Project;
use crate::terminal;

/// Corrects the record, and nothing else of the database.
pub(super) async fn run(project: &Project, client: &Client) -> Result<()> {
    let mut files = files::read(project, Kind::Schema)?;
    files.extend(files::read(project, Kind::Migration)?);
    history::lock(client).await?;
    history::create(client).await?;
    let history = history::read(client).await?;
    client.batch_execute("BEGIN").await.map_err(|error| failed(&error))?;
    let mut repaired = 0;
    for file in &files {
        match (plan::state(file, &history), file.kind) {
            (State::Changed, Kind::Migration) => {
                history::record(client, file, true).await?;
                terminal::done(format_args!("{} is recorded as it is now", file.path));
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
        history::forget(client, &entry.path).await?;
        terminal::done(format_args!("{} is forgotten: the project does not have it", entry.path));
        repaired += 1;
    }
    client.batch_execute("COMMIT").await.map_err(|error| failed(&error))?;
    if repaired == 0 {
        terminal::say("there is nothing to repair");
    }
    Ok(())
}
