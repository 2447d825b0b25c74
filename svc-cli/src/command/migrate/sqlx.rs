//! Imports the history of sqlx's migrator.

use sha2::{Digest as _, Sha384};
use tokio_postgres::{Client, Row};

use super::files::{File, Kind, version};
use super::plan::State;
use super::{failed, history, plan};
use crate::failure::{Failure, Result};
use crate::terminal;

/// A migration run by sqlx.
struct Run {
    version: i64,
    success: bool,
    checksum: Vec<u8>,
    installed_on: String,
}

/// Records the migrations run by sqlx, unless its record and the files disagree.
pub(super) async fn import(
    client: &Client,
    files: &[File],
    history: &[history::Entry],
) -> Result<usize> {
    let mut count = 0;
    for run in read(client).await? {
        let Some(file) = files.iter().find(|file| has_version(file, run.version)) else {
            return Err(Failure::new(format!(
                "sqlx has run the migration {}, but db/migrations has no file for it",
                run.version
            ))
            .hint(
                "move sqlx's files to db/migrations under their names, except files `.down.sql`",
            ));
        };

        check(file, &run)?;

        if plan::state(file, history) == State::Pending {
            history::record_at(client, file, &run.installed_on).await?;
            terminal::done(format_args!("{} is recorded", file.path));
            count += 1;
        }
    }

    Ok(count)
}

async fn read(client: &Client) -> Result<Vec<Run>> {
    let exists = client
        .query_one("SELECT to_regclass('_sqlx_migrations') IS NOT NULL", &[])
        .await;
    if !exists.map_err(|error| failed(&error))?.get::<_, bool>(0) {
        return Err(Failure::new("the database has no table _sqlx_migrations")
            .hint("without sqlx's history, `svc migrate baseline` records all files"));
    }

    let text = "SELECT version, success, checksum, installed_on::text FROM _sqlx_migrations ORDER BY version";
    let rows = client
        .query(text, &[])
        .await
        .map_err(|error| failed(&error))?;
    let run = |row: &Row| Run {
        version: row.get(0),
        success: row.get(1),
        checksum: row.get(2),
        installed_on: row.get(3),
    };

    Ok(rows.iter().map(run).collect())
}

fn has_version(file: &File, wanted: i64) -> bool {
    file.kind == Kind::Migration && version(file) == u128::try_from(wanted).ok()
}

fn check(file: &File, run: &Run) -> Result<()> {
    if !run.success {
        return Err(Failure::new(format!(
            "sqlx has started {} but not finished it",
            file.path
        ))
        .hint("inspect the partial result, fix it, and set `success` in _sqlx_migrations"));
    }

    // sqlx hashes the raw bytes, so the same file has another checksum with other line endings.
    let unix = file.text.replace("\r\n", "\n");
    let texts = [file.text.clone(), unix.replace('\n', "\r\n"), unix];
    if texts
        .iter()
        .all(|text| Sha384::digest(text)[..] != run.checksum)
    {
        return Err(
            Failure::new(format!("{} has changed since sqlx ran it", file.path)).hint(
                "restore the file, and put the change into a new migration: svc migrate new NAME",
            ),
        );
    }

    Ok(())
}
