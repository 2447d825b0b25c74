//! `svc db reset`.

use postgres_protocol::escape::escape_identifier;

use crate::command::migrate::Scope;
use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

pub(super) fn run(project: &Project, confirm: Option<&str>) -> Result<()> {
    let target = Target::parse(&project.database_url()?)?;
    let name = target.database().to_owned();
    if !target.is_local() {
        let failure = Failure::new(format!(
            "{} is not on this machine",
            database::shown(target.config())
        ));
        return Err(failure.hint("svc db reset works only with a database on this machine"));
    }

    if name == "postgres" {
        let failure = Failure::new("the database `postgres` is needed to drop other databases");
        return Err(failure.hint("name a database of the project in SVC_DATABASE_URL"));
    }

    database::block_on(super::owner::refuse_others(project, &target))?;
    terminal::confirm(
        &format!("drops the database `{name}` with all its rows"),
        &name,
        confirm,
    )?;

    database::block_on(async {
        let client = database::open(&target.with_database("postgres")).await?;

        // FORCE also closes the connections of a running `svc dev`, which connects again by itself.
        for statement in [
            format!(
                "DROP DATABASE IF EXISTS {} WITH (FORCE)",
                escape_identifier(&name)
            ),
            format!("CREATE DATABASE {}", escape_identifier(&name)),
        ] {
            client.batch_execute(&statement).await.map_err(|error| {
                Failure::new(format!(
                    "cannot create `{name}` again: {}",
                    database::reason(&error)
                ))
            })?;
        }

        super::bring_up(project, &database::open(&target).await?, Scope::All).await
    })
}
