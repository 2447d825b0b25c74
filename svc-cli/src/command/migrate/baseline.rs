//! `svc migrate baseline`.

use super::files;
use super::plan::State;
use super::{connect, failed, history, plan, sqlx};
use crate::database::{self, Target};
use crate::failure::Result;
use crate::project::Project;
use crate::terminal;

pub(super) fn run(project: &Project, confirm: Option<&str>, from_sqlx: bool) -> Result<()> {
    let target = Target::parse(&project.database_url()?)?;
    terminal::confirm(
        "records files without running them",
        target.database(),
        confirm,
    )?;

    let files = files::all(project)?;
    database::block_on(async {
        let client = connect(project).await?;
        history::lock(&client).await?;
        history::create(&client).await?;
        let history = history::read(&client).await?;
        client
            .batch_execute("BEGIN")
            .await
            .map_err(|error| failed(&error))?;

        if from_sqlx {
            let count = sqlx::import(&client, &files, &history).await?;
            terminal::say(format_args!(
                "{count} migrations of sqlx were recorded; `svc migrate up` runs the rest"
            ));
            return client
                .batch_execute("COMMIT")
                .await
                .map_err(|error| failed(&error));
        }

        // In one transaction: if only a part of the files were recorded, `up` would run the others
        // on a database that already has their objects.
        for file in files
            .iter()
            .filter(|file| plan::state(file, &history) == State::Pending)
        {
            history::record(&client, file, true).await?;
            terminal::done(format_args!("{} is recorded", file.path));
        }

        client
            .batch_execute("COMMIT")
            .await
            .map_err(|error| failed(&error))
    })
}
