//! Whether the project's database is available, and whether svc may start it.

use std::net::TcpStream;

use postgres_protocol::escape::escape_identifier;

use super::daemon;
use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// Whether the database responds.
pub(crate) async fn is_reachable(target: &Target) -> Result<bool> {
    Ok(database::open(target).await.is_ok())
}

/// Creates the database if a local server responds and has no database of this name; returns
/// whether it did.
pub(crate) async fn create_missing(target: &Target) -> Result<bool> {
    if !target.is_local() {
        return Ok(false);
    }

    let Ok(client) = database::open(&target.with_database("postgres")).await else {
        return Ok(false);
    };

    let name = target.database();
    let failed = |error: tokio_postgres::Error| {
        Failure::new(format!(
            "cannot create the database `{name}`: {}",
            database::reason(&error)
        ))
        .hint(format!(
            "create it as a user with this privilege: createdb --owner {} {name}",
            target.user()
        ))
    };

    let found = client
        .query_opt("SELECT FROM pg_database WHERE datname = $1", &[&name])
        .await
        .map_err(failed)?;
    if found.is_some() {
        return Ok(false);
    }

    client
        .batch_execute(&format!("CREATE DATABASE {}", escape_identifier(name)))
        .await
        .map_err(failed)?;
    terminal::done(format_args!("created the database `{name}`"));

    Ok(true)
}

/// Refuses to start a server if the settings mean a server outside of this project, or if another
/// server has the port.
pub(crate) fn refuse_others(project: &Project, target: &Target) -> Result<()> {
    let why = || match database::block_on(database::open(target)) {
        Ok(_) => Failure::new("the database has started in the meantime").hint("try again"),
        Err(failure) => failure,
    };
    if !target.is_local() {
        return Err(why());
    }

    if daemon::is_running(project)? {
        let failure =
            Failure::new("the project's server is running, but not with the current settings");
        return Err(failure.hint("restart it: svc db stop, then svc db start"));
    }

    // A server of another kind does not speak PostgreSQL's protocol, but accepts connections.
    let taken = TcpStream::connect(("127.0.0.1", target.port())).is_ok();
    if taken {
        let port = target.port();
        return Err(why().hint(format!(
            "another server uses port {port}; stop it, or choose another port for this project in .env and docker-compose.yml"
        )));
    }

    Ok(())
}
