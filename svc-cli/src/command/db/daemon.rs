//! The background server: `svc db start` runs `svc db serve`, which outlives it.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::owner::{self, Owner};
use super::server;
use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::process;
use crate::project::Project;
use crate::terminal;

/// The maximum time for a first start, which creates a cluster and may download a server.
const START: Duration = Duration::from_secs(300);
/// The maximum time for a server to stop.
const STOP: Duration = Duration::from_secs(60);
/// The polling interval.
const LOOK: Duration = Duration::from_millis(20);
/// The maximum time that a command holds the lock to see whether the server runs.
const PROBE: Duration = Duration::from_millis(500);

/// The file that is locked while the server runs, and identifies its process.
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
                "the database failed to start:\n{}",
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
    let lock = locked(project)?;

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
    })?;

    // If this fails, the process ID stays, as after a crash.
    let _ = lock.set_len(0);

    Ok(())
}

/// Locks the file, and writes this process into it.
fn locked(project: &Project) -> Result<File> {
    let mut lock = open_lock(project)?;
    let begun = Instant::now();
    while lock.try_lock().is_err() {
        if begun.elapsed() > PROBE {
            let failure = Failure::new("the database of this project is already running");
            return Err(failure.hint("stop it: svc db stop"));
        }
        std::thread::sleep(LOOK);
    }

    // A killed server has left its own.
    lock.set_len(0)
        .and_then(|()| lock.write_all(process::line(std::process::id()).as_bytes()))
        .map_err(Failure::io("write .svc/db.lock"))?;

    Ok(lock)
}

/// The process of the running server.
fn server_process(project: &Project) -> Result<Pid> {
    let path = project.private().join("db.lock");
    let text =
        fs::read_to_string(&path).map_err(Failure::io(format!("read {}", path.display())))?;
    let noted = process::read(&text).and_then(|(number, moment)| {
        let pid = Pid::from_raw(i32::try_from(number).ok()?)?;
        Some((number, pid, moment))
    });
    let Some((number, pid, moment)) = noted else {
        let failure = Failure::new("the database is still starting");
        return Err(failure.hint("try again: svc db stop"));
    };

    // A held lock means that the server runs, but not that its ID belongs to it here: a new server
    // may not have replaced the ID of a killed one yet, and a container has IDs of its own.
    if !moment.is_empty() && !process::is_same(number, moment) {
        let failure = Failure::new(format!(
            "the process {number} is not the database: it is still starting, or runs in a container"
        ));
        return Err(failure.hint("try again, or stop it there: svc db stop"));
    }

    Ok(pid)
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
            "the database belongs to a running `svc dev`, which stops it on exit"
        } else {
            "the database is not running"
        });
        return Ok(());
    }

    let pid = server_process(project)?;
    let number = pid.as_raw_nonzero();
    match kill_process(pid, Signal::TERM) {
        // It may have exited meanwhile.
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => {
            return Err(Failure::new(format!(
                "cannot stop the process {number}: {error}"
            )));
        }
    }

    let begun = Instant::now();
    while is_running(project)? {
        if begun.elapsed() > STOP {
            return Err(Failure::new(format!(
                "the database did not stop; its process ID is {number}"
            )));
        }
        std::thread::sleep(LOOK);
    }

    terminal::done("stopped the database");

    Ok(())
}
