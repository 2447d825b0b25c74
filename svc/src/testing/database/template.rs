//! Templates: databases in which a set-up has been run, and which tests copy.

use super::location::with_database;
use super::setup::{ReadSetup, Script};
use super::{connect, grants};
use crate::postgres::ScriptConnection;
use crate::{Error, Result};

const EXISTS: &str = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)";

/// Makes the template of a set-up unless it is there, and returns its name. The session then keeps others from dropping
/// it.
pub(super) async fn ensure(server: &mut ScriptConnection, url: &str, setup: &ReadSetup) -> Result<String> {
    let family = format!("svc_template_{}_", setup.origin);
    let name = format!("{family}{}", setup.hash);
    let key = key(&name);
    loop {
        server.run(&format!("SELECT pg_advisory_lock_shared({key})")).await?;
        if server.is(EXISTS, &name).await? {
            return Ok(name);
        }
        server.run(&format!("SELECT pg_advisory_unlock_shared({key}), pg_advisory_lock({key})")).await?;
        let made = match server.is(EXISTS, &name).await? {
            true => Ok(()),
            false => make(server, url, &name, setup).await,
        };
        let swept = sweep(server, &family, &name).await;
        server.run(&format!("SELECT pg_advisory_unlock({key})")).await?;
        made?;
        swept?;
    }
}

/// Returns the key by which sessions agree about a database.
pub(super) fn key(database: &str) -> String {
    format!("hashtextextended('{database}', 0)")
}

/// Makes a template under another name first, so that an unfinished one is never copied.
async fn make(server: &mut ScriptConnection, url: &str, name: &str, setup: &ReadSetup) -> Result<()> {
    let unfinished = format!("{}_new", &name[..name.len() - 4]);
    server.run(&format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")).await?;
    server.run(&format!("CREATE DATABASE {unfinished}")).await?;
    if let Some(role) = &setup.role {
        grants::make(server, role).await?;
    }
    // Its connection is closed at the end: a database that is in use can be neither renamed nor copied.
    let filled = fill(&with_database(url, &unfinished), setup).await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname =";
    server.run(&format!("{end} '{unfinished}'")).await?;
    match filled {
        Ok(()) => server.run(&format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await?,
        Err(_) => server.run(&format!("DROP DATABASE {unfinished} WITH (FORCE)")).await?,
    }
    filled
}

async fn fill(url: &str, setup: &ReadSetup) -> Result<()> {
    let mut connection = connect(url).await?;
    connection.run("SET client_min_messages = warning").await?;
    for Script { name, sql } in &setup.scripts {
        connection.run(sql).await.map_err(|error| {
            let place = name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            Error::internal(format!("{place}{}", error.with_sources()))
        })?;
    }
    if let Some(role) = &setup.role {
        connection.run(&grants::grants(role)).await?;
    }
    Ok(())
}

/// Drops what the same set-up was before, unless a test is about to copy it.
async fn sweep(server: &mut ScriptConnection, family: &str, name: &str) -> Result<()> {
    let query = "SELECT datname::text FROM pg_database WHERE starts_with(datname, $1) ORDER BY 1";
    for other in server.names(query, family).await?.iter().filter(|other| *other != name) {
        let key = key(other);
        if server.is(&format!("SELECT pg_try_advisory_lock({key}) AND $1 <> ''"), other).await? {
            let dropped = server.run(&format!("DROP DATABASE IF EXISTS {other}")).await;
            server.run(&format!("SELECT pg_advisory_unlock({key})")).await?;
            // One that somebody looks at stays.
            dropped.or_else(|error| {
                if error.code().is_some_and(|code| code.code() == "55006") { Ok(()) } else { Err(error) }
            })?;
        }
    }
    Ok(())
}
