//! A temporary database next to the project's: all files run on it from the start.

mod inventory;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use postgres_protocol::escape::escape_identifier;
use tokio_postgres::Client;

use super::apply;
use super::files::File;
use super::history;
use super::plan::Plan;
use super::run::Mode;
use crate::database::{self, Target};
use crate::failure::{Failure, Result};

pub(super) use inventory::{Differences, Inventory};

/// The prefix of the names; the time of creation follows.
const PREFIX: &str = "svc_shadow_";
/// The age, in seconds, of a leftover database: the process that created it was killed.
const LEFT_OVER: u64 = 3600;
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The schema that files create on an empty database, or the reason why such a database cannot be
/// created.
pub(super) async fn replay(target: &Target, files: &[File]) -> Result<Result<Inventory>> {
    let client = database::open(target).await?;
    sweep(&client).await;

    // Two replays on one server may start in the same second.
    let name = format!("{PREFIX}{}_{}", now(), std::process::id());
    let quoted = escape_identifier(&name);
    if let Err(error) = client
        .batch_execute(&format!("CREATE DATABASE {quoted}"))
        .await
    {
        let why = database::reason(&error);
        return Ok(Err(Failure::new(format!(
            "cannot create an empty database to run all files: {why}"
        ))
        .hint(
            "give the user in SVC_DATABASE_URL the privilege: ALTER ROLE … CREATEDB",
        )));
    }

    let replayed = replay_in(&target.with_database(&name), files).await;

    // With FORCE, as the connection of the replay may still be closing. If this fails, a later
    // replay drops the database.
    let _ = client
        .batch_execute(&format!("DROP DATABASE IF EXISTS {quoted} WITH (FORCE)"))
        .await;

    replayed.map(Ok)
}

async fn replay_in(target: &Target, files: &[File]) -> Result<Inventory> {
    let client = database::open(target).await?;
    history::create(&client).await?;
    let plan = Plan::new(files, &[]);
    apply::run(&client, &plan, Mode::Replay, LOCK_TIMEOUT).await?;
    Inventory::read(&client).await
}

/// Drops the databases left by killed runs.
async fn sweep(client: &Client) {
    let names = "SELECT datname::text FROM pg_database WHERE starts_with(datname, $1)";
    for row in client.query(names, &[&PREFIX]).await.unwrap_or_default() {
        let name: String = row.get(0);
        let made = name[PREFIX.len()..]
            .split('_')
            .next()
            .and_then(|time| time.parse::<u64>().ok());

        if made.is_some_and(|made| made.saturating_add(LEFT_OVER) < now()) {
            // Without FORCE, so that a slow replay keeps its database. Another process may be
            // dropping it too.
            let _ = client
                .batch_execute(&format!(
                    "DROP DATABASE IF EXISTS {}",
                    escape_identifier(&name)
                ))
                .await;
        }
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
