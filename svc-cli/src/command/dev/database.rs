//! The database under `svc dev`: started in parallel with the build. The wait for it is limited,
//! and the program serves anyway.

use std::path::PathBuf;
use std::time::Duration;

use svc_embedded::Database as Own;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::command::db;
use crate::command::migrate::Scope;
use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// The maximum time that a built program waits for the database.
const PATIENCE: Duration = Duration::from_secs(10);

/// The project's database.
#[derive(Debug, Default)]
pub(super) struct Database {
    /// The project's own server, if this command has started it.
    own: Option<Own>,
    /// The task that starts and updates it.
    task: Option<JoinHandle<Result<Brought>>>,
}

/// The state of the database after that task.
#[derive(Debug)]
struct Brought {
    /// The project's own server, if it was started.
    own: Option<Own>,
    /// Whether it responds and all files were applied.
    is_ready: bool,
}

impl Database {
    /// Starts the task that starts the database if none responds, and brings it up to date.
    pub(super) fn begin(&mut self, project: &Project, scope: Scope) {
        let (root, has_own) = (project.root().to_owned(), self.own.is_some());
        let before = self.task.take();
        self.task = Some(tokio::spawn(async move {
            // A server that is still starting must not be started twice.
            let started = match before {
                Some(before) => joined(before.await).ok().and_then(|brought| brought.own),
                None => None,
            };

            // Outside of the steps, because the server stops when its value is dropped.
            let mut own = started;
            let is_ready = match bring_up(root, &mut own, has_own, scope).await {
                Ok(is_ready) => is_ready,
                // A file of `db/` is wrong, which its next change may fix; the server stays.
                Err(failure) if has_own || own.is_some() => {
                    let _ = failure.report();
                    false
                }
                Err(failure) => return Err(failure),
            };

            Ok(Brought { own, is_ready })
        }));
    }

    /// Waits for it, up to a limit.
    pub(super) async fn settle(&mut self) -> Result<()> {
        let Some(task) = &mut self.task else {
            return Ok(());
        };

        // The task continues after the timeout, which only drops the reference to it.
        match timeout(PATIENCE, task).await {
            Ok(done) => self.take(joined(done)).map(drop),
            Err(_) => {
                terminal::say("the database is not ready yet; until then, queries find no rows");
                Ok(())
            }
        }
    }

    /// Waits until slow work is done, and reports the result.
    pub(super) async fn ready(&mut self) {
        let Some(task) = &mut self.task else {
            // A future that completes would make the loop around `select!` spin.
            return std::future::pending().await;
        };

        let done = joined(task.await);
        match self.take(done) {
            Ok(true) => terminal::done("the database is ready"),
            // The missing part has been reported.
            Ok(false) => {}
            Err(failure) => drop(failure.report()),
        }
    }

    /// Takes the result of the task; returns whether the database is ready.
    fn take(&mut self, done: Result<Brought>) -> Result<bool> {
        self.task = None;
        let Brought { own, is_ready } = done?;
        self.own = own.or(self.own.take());
        Ok(is_ready)
    }

    /// Stops it.
    pub(super) async fn end(self) {
        // A server that the task is starting stops when its value is dropped.
        if let Some(task) = self.task {
            task.abort();
        }
        if let Some(own) = self.own {
            own.stop().await;
        }
    }
}

fn joined<T>(done: Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    done.map_err(|error| Failure::new(format!("bringing the database up to date failed: {error}")))?
}

/// Starts the project's own server, unless one is there, and applies the files; returns whether the
/// database is ready.
async fn bring_up(
    root: PathBuf,
    own: &mut Option<Own>,
    has_own: bool,
    scope: Scope,
) -> Result<bool> {
    let project = Project::at(root)?;
    let Ok(url) = project.database_url() else {
        terminal::warning(
            "no database URL is set, so queries find no rows; set SVC_DATABASE_URL in .env",
        );
        return Ok(false);
    };

    let target = Target::parse(&url)?;
    if !has_own && own.is_none() {
        match db::ensure(&project, &target).await {
            Ok(started) => *own = started,
            Err(failure) => {
                warn(&failure);
                return Ok(false);
            }
        }
    }

    let client = match database::open(&target).await {
        Ok(client) => client,
        Err(failure) => {
            warn(&failure);
            return Ok(false);
        }
    };

    if !target.is_local() {
        terminal::warning(
            "the database is not on this machine, so svc dev does not change it; to apply the files: svc migrate up",
        );
        return Ok(false);
    }

    db::bring_up(&project, &client, scope).await?;

    Ok(true)
}

/// Warns that the service runs without a database.
fn warn(failure: &Failure) {
    terminal::warning(format_args!(
        "{}; the service runs without a database, so queries find no rows",
        failure.message()
    ));
    failure.first_hint().into_iter().for_each(terminal::hint);
}
