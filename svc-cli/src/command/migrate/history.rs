//! The record of the files applied to a database, in its table `svc_history.migrations`.
//!
//! The search path starts with `"$user"`: in a schema with the name of a common user, such as
//! `svc`, the tables of the files would be created next to the record, where no other user looks
//! for them.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Client;

use super::failed;
use super::files::File;
use super::run::Id;
use crate::failure::Result;
use crate::terminal;

/// The key of the advisory lock: the bytes of `svc-migr`.
const LOCK: i64 = i64::from_be_bytes(*b"svc-migr");

const CREATE: &str = "\
    CREATE SCHEMA IF NOT EXISTS svc_history;
    CREATE TABLE IF NOT EXISTS svc_history.migrations (
        path        text PRIMARY KEY,
        checksum    text NOT NULL,
        finished    boolean NOT NULL,
        applied_at  timestamptz NOT NULL DEFAULT now()
    );";

/// The views, functions, policies and triggers created by each file of `db/schema`. A database of
/// an older tool gets the table with the next file.
const CREATE_OBJECTS: &str = "\
    CREATE TABLE IF NOT EXISTS svc_history.objects (
        path      text NOT NULL,
        kind      text NOT NULL,
        identity  text NOT NULL,
        PRIMARY KEY (path, kind, identity)
    );";

const RECORD: &str = "\
    INSERT INTO svc_history.migrations (path, checksum, finished) VALUES ($1, $2, $3)
    ON CONFLICT (path) DO UPDATE SET checksum = excluded.checksum, finished = excluded.finished, applied_at = now()";

/// A file in the record of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) checksum: String,
    /// False while a file runs outside of a transaction, and after it was interrupted.
    pub(crate) finished: bool,
    pub(crate) applied_at: String,
}

/// Waits until no other process changes this database, and then blocks others until the connection
/// ends.
pub(crate) async fn lock(client: &Client) -> Result<()> {
    // A lock of the session, not of a transaction, because a run commits several of them. The first
    // attempt does not wait, so that a wait is reported.
    let row = client
        .query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK])
        .await
        .map_err(|error| failed(&error))?;
    if row.get(0) {
        return Ok(());
    }

    terminal::say("another `svc migrate` is changing this database; waiting for it to finish");
    client
        .execute("SELECT pg_advisory_lock($1)", &[&LOCK])
        .await
        .map_err(|error| failed(&error))?;

    Ok(())
}

/// Creates the table unless it exists.
pub(crate) async fn create(client: &Client) -> Result<()> {
    let exists = exists(client).await?;

    // Even for an existing schema, `CREATE SCHEMA IF NOT EXISTS` requires the privilege to create
    // one, which the user of a deployment may not have.
    if !exists {
        client
            .batch_execute(CREATE)
            .await
            .map_err(|error| failed(&error))?;
    }

    if !has_objects(client).await? {
        client
            .batch_execute(CREATE_OBJECTS)
            .await
            .map_err(|error| failed(&error))?;
    }

    Ok(())
}

async fn has_objects(client: &Client) -> Result<bool> {
    let row = client
        .query_one("SELECT to_regclass('svc_history.objects') IS NOT NULL", &[])
        .await;
    Ok(row.map_err(|error| failed(&error))?.get(0))
}

/// The objects created by each file.
pub(crate) async fn objects(client: &Client) -> Result<BTreeMap<String, BTreeSet<Id>>> {
    let mut objects: BTreeMap<String, BTreeSet<Id>> = BTreeMap::new();
    if !has_objects(client).await? {
        return Ok(objects);
    }

    let text = "SELECT path, kind, identity FROM svc_history.objects";
    for row in client
        .query(text, &[])
        .await
        .map_err(|error| failed(&error))?
    {
        let id = Id {
            kind: row.get(1),
            identity: row.get(2),
        };
        objects.entry(row.get(0)).or_default().insert(id);
    }

    Ok(objects)
}

/// Records the objects created by each file.
pub(crate) async fn set_objects(
    client: &Client,
    objects: &BTreeMap<String, BTreeSet<Id>>,
) -> Result<()> {
    // In the transaction of the files, so that a rollback restores the record as well.
    let all = || {
        objects
            .iter()
            .flat_map(|(path, ids)| ids.iter().map(move |id| (path, id)))
    };

    let paths: Vec<&str> = all().map(|(path, _)| path.as_str()).collect();
    let kinds: Vec<&str> = all().map(|(_, id)| id.kind.as_str()).collect();
    let identities: Vec<&str> = all().map(|(_, id)| id.identity.as_str()).collect();
    let text =
        "INSERT INTO svc_history.objects SELECT * FROM unnest($1::text[], $2::text[], $3::text[])";

    client
        .batch_execute("DELETE FROM svc_history.objects")
        .await
        .map_err(|error| failed(&error))?;
    client
        .execute(text, &[&paths, &kinds, &identities])
        .await
        .map_err(|error| failed(&error))?;

    Ok(())
}

/// Whether the database has the table.
async fn exists(client: &Client) -> Result<bool> {
    let row = client
        .query_one(
            "SELECT to_regclass('svc_history.migrations') IS NOT NULL",
            &[],
        )
        .await;
    Ok(row.map_err(|error| failed(&error))?.get(0))
}

/// The record of the database; empty if there is no table.
pub(crate) async fn read(client: &Client) -> Result<Vec<Entry>> {
    if !exists(client).await? {
        return Ok(Vec::new());
    }

    // Formatted by the server, because the text of a `timestamptz` depends on the session's
    // settings `TimeZone` and `DateStyle`.
    let text = "SELECT path, checksum, finished, to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') \
        FROM svc_history.migrations ORDER BY path";
    let rows = client
        .query(text, &[])
        .await
        .map_err(|error| failed(&error))?;
    let entry = |row: tokio_postgres::Row| Entry {
        path: row.get(0),
        checksum: row.get(1),
        finished: row.get(2),
        applied_at: row.get(3),
    };

    Ok(rows.into_iter().map(entry).collect())
}

/// Whether the record is empty.
pub(crate) async fn is_empty(client: &Client) -> Result<bool> {
    Ok(read(client).await?.is_empty())
}

/// Records a file.
pub(crate) async fn record(client: &Client, file: &File, finished: bool) -> Result<()> {
    client
        .execute(RECORD, &[&file.path, &file.checksum, &finished])
        .await
        .map_err(|error| failed(&error))?;
    Ok(())
}

/// Records a file that was run by another tool, with its time.
pub(crate) async fn record_at(client: &Client, file: &File, applied_at: &str) -> Result<()> {
    // With `::timestamptz` alone, PostgreSQL would infer this type for the parameter, and the
    // driver would refuse a string for it.
    let text = "INSERT INTO svc_history.migrations (path, checksum, finished, applied_at) \
        VALUES ($1, $2, true, $3::text::timestamptz)";
    client
        .execute(text, &[&file.path, &file.checksum, &applied_at])
        .await
        .map_err(|error| failed(&error))?;
    Ok(())
}

/// Removes a file from the record.
pub(crate) async fn forget(client: &Client, path: &str) -> Result<()> {
    client
        .execute(
            "DELETE FROM svc_history.migrations WHERE path = $1",
            &[&path],
        )
        .await
        .map_err(|error| failed(&error))?;
    Ok(())
}
