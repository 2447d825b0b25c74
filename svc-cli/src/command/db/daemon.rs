//! The background server: `svc db start` runs `svc db serve`, which outlives it.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::owner::{self, Owner};
use super::server;
use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// The maximum time for a first start, which creates a cluster and may download a server.
const START: Duration = Duration::from_secs(300);
/// The maximum time for a server to stop.
const STOP: Duration = Duration::from_secs(60);
/// The polling interval.
const LOOK: Duration = Duration::from_millis(20);

/// The file that is locked while the server runs, and contains its process ID.
fn open_lock(project: &Project) -> Result<File> {
    let path = project.create_private()?.join("db.lock");
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        // `svc db stop` opens the file as well, and must find the process ID in it.
        .truncate(false)
        .open(&path);
    file.map_err(Failure::io(format!("open {}", path.display())))
}

/// Whether the server started by `svc db start` is running.
pub(super) fn is_running(project: &Project) -> Result<bool> {
    let path = project.private().join("db.lock");
    match File::open(&path) {
        // The lock counts, not the process ID, which stays in the file after a crash.
        Ok(lock) => Ok(matches!(lock.try_lock(), Err(TryLockError::WouldBlock))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::io(format!("open {}", path.display()))(error)),
    }
}

/// Starts the server in the background, and waits until it responds.
pub(super) fn start(project: &Project, target: &Target) -> Result<()> {
    let path = project.private().join("db.log");
    let failed = || Failure::io(format!("start the database; see {}", path.display()));

    // Creates the private folder, which also gets the log.
    drop(open_lock(project)?);
    let log = File::create(&path).map_err(failed())?;
    let program = std::env::current_exe().map_err(failed())?;
    let mut child = Command::new(program)
        .args(["db", "serve"])
        .current_dir(project.root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        // Ctrl-C in this terminal must not stop it.
        .process_group(0)
        .spawn()
        .map_err(failed())?;

    let begun = Instant::now();
    while !database::block_on(super::is_reachable(target))? {
        if has_ended(&mut child)? || begun.elapsed() > START {
            let why = fs::read_to_string(&path).unwrap_or_default();
            return Err(Failure::new(format!(
                "the database does not start:\n{}",
                why.trim_end()
            )));
        }
        std::thread::sleep(LOOK);
    }

    Ok(())
}

fn has_ended(child: &mut Child) -> Result<bool> {
    Ok(child
        .try_wait()
        .map_err(Failure::io("wait for the database"))?
        .is_some())
}

/// Runs the server until a signal.
pub(super) fn serve(project: &Project) -> Result<()> {
    let target = Target::parse(&project.database_url()?)?;
    let lock = open_lock(project)?;
    if lock.try_lock().is_err() {
        return Err(
            Failure::new("the database of this project runs already").hint("stop it: svc db stop")
        );
    }

    let path = project.private().join("db.lock");
    fs::write(&path, std::process::id().to_string())
        .map_err(Failure::io(format!("write {}", path.display())))?;

    database::block_on(async {
        // Before the start: by default, a signal ends this process at once, which would leave
        // PostgreSQL without a shutdown.
        let watch = |kind| signal(kind).map_err(Failure::io("wait for signals"));
        let (mut terminate, mut interrupt) = (
            watch(SignalKind::terminate())?,
            watch(SignalKind::interrupt())?,
        );
        let database = server::start(project, &target).await?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        database.stop().await;

        Ok(())
    })
}

/// Whether the project's server responds without having been started by `svc db start`.
fn belongs_to_dev(project: &Project) -> Result<bool> {
    let Ok(url) = project.database_url() else {
        return Ok(false);
    };
    let target = Target::parse(&url)?;
    Ok(database::block_on(owner::of(project, &target))? == Owner::This)
}

/// Stops the server, and waits until it has exited.
pub(super) fn stop(project: &Project) -> Result<()> {
    if !is_running(project)? {
        terminal::say(if belongs_to_dev(project)? {
            "the database belongs to `svc dev`, which runs and stops it when it ends"
        } else {
            "the database does not run"
        });
        return Ok(());
    }

    let path = project.private().join("db.lock");

    // A held lock means that the writer of the ID still runs, so the ID cannot belong to another
    // process.
    let text =
        fs::read_to_string(&path).map_err(Failure::io(format!("read {}", path.display())))?;
    let pid = text.trim().parse().ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| {
        Failure::new("the database is just starting").hint("try again: svc db stop")
    })?;
    kill_process(pid, Signal::TERM).map_err(|error| {
        Failure::new(format!("cannot stop the process {}: {error}", text.trim()))
    })?;
    let begun = Instant::now();
    while is_running(project)? {
        if begun.elapsed() > STOP {
            return Err(Failure::new(format!(
                "the database does not stop; its process is {}",
                text.trim()
            )));
        }
        std::thread::sleep(LOOK);
    }

    terminal::done("stopped the database");

    Ok(())
}
