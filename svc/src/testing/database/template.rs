//! Templates: databases with a completed setup, which are copied for tests.

use tokio_postgres::error::SqlState;

use super::location::with_database;
use super::phase::Phase;
use super::setup::{ReadSetup, Script};
use super::{connect, grants};
use svc_core::{Error, Result};
use svc_postgres::{DriverError, ScriptConnection};

const PREFIX: &str = "svc_template_";

const EXISTS: &str = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)";

/// Creates the template of a setup unless it exists, and returns its name. The session then holds a
/// lock that prevents dropping it.
pub(super) async fn ensure(
    server: &mut ScriptConnection,
    url: &str,
    setup: &ReadSetup,
) -> Result<String> {
    let name = format!("{PREFIX}{}", setup.hash);
    let key = key(&name);
    loop {
        // The shared lock lets many tests copy the template at once, while none can drop it.
        server
            .run(&format!("SELECT pg_advisory_lock_shared({key})"))
            .await?;
        if server.is(EXISTS, &name).await? {
            return Ok(name);
        }

        // The shared lock is released first: two sessions that upgrade theirs would wait for each
        // other.
        server
            .run(&format!(
                "SELECT pg_advisory_unlock_shared({key}), pg_advisory_lock({key})"
            ))
            .await?;

        // Another session may have created the template during the wait.
        let made = match server.is(EXISTS, &name).await? {
            true => Ok(()),
            false => make(server, url, &name, setup).await,
        };

        let swept = sweep(server).await;
        server
            .run(&format!("SELECT pg_advisory_unlock({key})"))
            .await?;
        made?;

        swept?;
    }
}

/// Returns the key of the advisory lock for a database.
pub(super) fn key(database: &str) -> String {
    format!("hashtextextended('{database}', 0)")
}

/// Creates a template under another name first, so that an unfinished one is never copied.
async fn make(
    server: &mut ScriptConnection,
    url: &str,
    name: &str,
    setup: &ReadSetup,
) -> Result<()> {
    let unfinished = format!("svc_unfinished_{}", setup.hash);

    // A killed program leaves an unfinished database.
    server
        .run(&format!(
            "DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)"
        ))
        .await?;

    server.run(&format!("CREATE DATABASE {unfinished}")).await?;
    if let Some(role) = &setup.role {
        grants::make(server, role).await?;
    }

    // Other connections are terminated afterwards: a database in use can be neither renamed nor
    // copied.
    let filled = fill(&with_database(url, &unfinished), setup).await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname =";
    server.run(&format!("{end} '{unfinished}'")).await?;

    match filled {
        Ok(()) => server.run(&finish(&unfinished, name)).await?,
        Err(_) => {
            server
                .run(&format!("DROP DATABASE {unfinished} WITH (FORCE)"))
                .await?;
        }
    }

    filled
}

async fn fill(url: &str, setup: &ReadSetup) -> Result<()> {
    let mut connection = connect(url).await?;
    connection.run("SET client_min_messages = warning").await?;
    run_all(&mut connection, &setup.scripts).await?;
    if let Some(role) = &setup.role {
        connection.run(&grants::grants(role)).await?;
    }
    Ok(())
}

/// Runs the scripts in order. A script of the schema that depends on another runs after that one,
/// and a migration that lacks an object, such as a function for its trigger, runs after the scripts
/// of the schema that can already run.
async fn run_all(connection: &mut ScriptConnection, scripts: &[Script]) -> Result<()> {
    let mut schema: Vec<&Script> = scripts
        .iter()
        .filter(|script| script.phase == Phase::Schema)
        .collect();
    for script in scripts {
        if script.phase == Phase::Schema {
            // The first of these scripts runs all of them; none is left for the others.
            run_schema(connection, &mut schema).await?;
            continue;
        }

        let mut ran = connection.run(&script.sql).await;
        if script.phase == Phase::Migration && ran.as_ref().is_err_and(is_missing) {
            // Scripts that cannot run yet are run after the migrations.
            let _ = run_schema(connection, &mut schema).await;
            ran = connection.run(&script.sql).await;
        }

        ran.map_err(|error| failed(script, &error))?;
    }

    Ok(())
}

/// Runs the remaining scripts of the schema by name. A script that lacks an object runs right after
/// the script that creates it, and scripts with grants on all objects of a schema run once more at
/// the end.
async fn run_schema(connection: &mut ScriptConnection, left: &mut Vec<&Script>) -> Result<()> {
    let all = std::mem::take(left);
    let mut first = None;
    for script in &all {
        left.push(*script);

        loop {
            let before = left.len();
            let mut still = Vec::new();
            for script in std::mem::take(left) {
                // A failed script has no effect: its statements are one transaction.
                match connection.run(&script.sql).await {
                    Ok(()) => {}
                    Err(error) if is_missing(&error) => {
                        first = Some(failed(script, &error));
                        still.push(script);
                    }
                    Err(error) => {
                        // For a migration the caller ignores the error, and runs all of them again
                        // later.
                        left.clone_from(&all);
                        return Err(failed(script, &error));
                    }
                }
            }

            *left = still;

            if left.is_empty() || left.len() == before {
                break;
            }
        }
    }

    match first {
        Some(error) if !left.is_empty() => return Err(error),
        _ => {}
    }

    // `GRANT … ON ALL TABLES` covers only the objects that exist at that moment.
    for script in all.iter().filter(|script| grants_all(&script.sql)) {
        connection
            .run(&script.sql)
            .await
            .map_err(|error| failed(script, &error))?;
    }

    Ok(())
}

fn grants_all(sql: &str) -> bool {
    let text = sql.to_ascii_uppercase();
    ["TABLES", "FUNCTIONS", "ROUTINES", "PROCEDURES"]
        .iter()
        .any(|kind| text.contains(&format!("ALL {kind} IN SCHEMA")))
}

/// Whether another script may create the missing object.
fn is_missing(error: &DriverError) -> bool {
    let missing = [
        &SqlState::UNDEFINED_TABLE,
        &SqlState::UNDEFINED_COLUMN,
        &SqlState::UNDEFINED_FUNCTION,
        &SqlState::UNDEFINED_OBJECT,
        &SqlState::INVALID_SCHEMA_NAME,
    ];
    error.code().is_some_and(|code| missing.contains(&code))
}

fn failed(script: &Script, error: &DriverError) -> Error {
    let place = script
        .name
        .as_ref()
        .map(|name| format!("{name}: "))
        .unwrap_or_default();
    Error::internal(format!("{place}{}", error.with_sources()))
}

/// Returns the statement that renames a finished template and records the day of its creation.
fn finish(unfinished: &str, name: &str) -> String {
    // PostgreSQL does not record when a database is created. `COMMENT` accepts only a literal,
    // hence `EXECUTE`.
    format!(
        "DO $svc$ BEGIN
            EXECUTE format('COMMENT ON DATABASE {unfinished} IS %L', to_char(now(), 'YYYY-MM-DD'));
            ALTER DATABASE {unfinished} RENAME TO {name};
        END $svc$"
    )
}

/// Drops templates older than a week, unless a test is about to copy them. They may belong to
/// outdated setups; others are created again when needed.
async fn sweep(server: &mut ScriptConnection) -> Result<()> {
    // A role can only drop databases of roles that it is a member of.
    let old = "SELECT datname::text FROM pg_database WHERE starts_with(datname, $1) AND pg_has_role(datdba, 'MEMBER')
        AND shobj_description(oid, 'pg_database') < to_char(now() - interval '7 days', 'YYYY-MM-DD') ORDER BY 1";
    for name in server.names(old, PREFIX).await? {
        let key = key(&name);
        if server
            .is(
                &format!("SELECT pg_try_advisory_lock({key}) AND $1 <> ''"),
                &name,
            )
            .await?
        {
            let dropped = server.run(&format!("DROP DATABASE IF EXISTS {name}")).await;
            server
                .run(&format!("SELECT pg_advisory_unlock({key})"))
                .await?;

            // Templates in use by another session are kept.
            let is_in_use = |error: &DriverError| error.code() == Some(&SqlState::OBJECT_IN_USE);
            dropped.or_else(|error| {
                if is_in_use(&error) {
                    Ok(())
                } else {
                    Err(error)
                }
            })?;
        }
    }

    Ok(())
}
