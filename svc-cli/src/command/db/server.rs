//! The project's own PostgreSQL, at the address from its settings.

use std::time::Duration;

use postgres_protocol::escape::escape_identifier;
use svc_embedded::{Database, Options};
use tokio_postgres::{Client, Config, NoTls};

use super::owner;
use crate::database::{Target, reason};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// Starts the server, and creates the user and the database from the settings. The server stops
/// when the value is dropped.
pub(crate) async fn start(project: &Project, target: &Target) -> Result<Database> {
    let mark = owner::mark(project)?;
    let options = Options::new(project.create_private()?)
        .port(Some(target.port()))
        .setting("cluster_name", mark);
    let database = Database::start(options)
        .await
        .map_err(|error| Failure::new(error.to_string()))?;
    prepare(&database, target).await?;

    Ok(database)
}

/// Starts the project's own database if no server responds at a local address.
pub(crate) async fn ensure(project: &Project, target: &Target) -> Result<Option<Database>> {
    owner::refuse_others(project, target).await?;
    if super::is_reachable(target).await? || !target.is_local() {
        return Ok(None);
    }

    if super::local::create_missing(target).await? {
        return Ok(None);
    }

    terminal::say("no database responds; starting the project's own, in .svc");

    start(project, target).await.map(Some)
}

/// Creates the user and the database unless they exist.
async fn prepare(database: &Database, target: &Target) -> Result<()> {
    let client = superuser(database, target.port()).await?;
    let (user, name) = (target.user(), target.database());
    let has = |table: &str, column: &str| format!("SELECT FROM {table} WHERE {column} = $1");
    let run = async {
        // The user may create databases, because `svc migrate check` and `svc db reset` do.
        if client
            .query_opt(&has("pg_roles", "rolname"), &[&user])
            .await?
            .is_none()
        {
            client
                .batch_execute(&format!(
                    "CREATE ROLE {} LOGIN CREATEDB",
                    escape_identifier(user)
                ))
                .await?;
        }

        if client
            .query_opt(&has("pg_database", "datname"), &[&name])
            .await?
            .is_none()
        {
            client
                .batch_execute(&format!(
                    "CREATE DATABASE {} OWNER {}",
                    escape_identifier(name),
                    escape_identifier(user)
                ))
                .await?;
        }

        Ok(())
    };

    run.await.map_err(|error| {
        Failure::new(format!(
            "cannot create the database `{name}`: {}",
            reason(&error)
        ))
    })
}

async fn superuser(database: &Database, port: u16) -> Result<Client> {
    // The socket is in a private folder, so the superuser needs no password there.
    let mut config = Config::new();
    config
        .host_path(database.socket_folder())
        .port(port)
        .user("postgres")
        .dbname("postgres");

    config.connect_timeout(Duration::from_secs(10));
    let (client, connection) = config.connect(NoTls).await.map_err(|error| {
        Failure::new(format!(
            "cannot connect to the project's own server: {}",
            reason(&error)
        ))
    })?;

    tokio::spawn(connection);

    Ok(client)
}
