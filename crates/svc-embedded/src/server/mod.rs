//! The postmaster as a child process. A dedicated thread watches it, and it is stopped on drop.

pub(crate) mod launch;
mod log;
mod port;
pub(crate) mod running;
#[cfg(any(test, not(target_os = "linux")))]
mod watchdog;
pub(crate) mod wire;

use std::{
    io,
    process::{Child, Command, ExitStatus},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::Duration,
};

pub use port::free_port;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// A running postmaster. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Server {
    pid: Pid,
    watch: Arc<Watch>,
    first_signal: Signal,
    #[cfg(not(target_os = "linux"))]
    _watchdog: watchdog::Watchdog,
}

/// The child's exit status, once it has exited.
#[derive(Debug, Default)]
struct Watch {
    exit: Mutex<Option<ExitStatus>>,
    changed: Condvar,
}

impl Server {
    /// Spawns the command from a thread that lives as long as the child. The system sends the death
    /// signal when the spawning *thread* ends, and threads of a runtime may end at any time.
    pub(crate) fn launch(mut command: Command, throw_away: bool) -> io::Result<Self> {
        let watch = Arc::new(Watch::default());
        let (sender, receiver) = mpsc::sync_channel(1);
        let watch_of_thread = Arc::clone(&watch);

        thread::Builder::new()
            .name("svc-postgres".into())
            .spawn(move || match command.spawn() {
                Ok(child) => {
                    let pid = Pid::from_child(&child);
                    let _ = sender.send(Ok(pid));
                    watch_of_thread.follow(child, pid);
                }
                Err(error) => {
                    let _ = sender.send(Err(error));
                }
            })?;

        let pid = receiver.recv().map_err(io::Error::other)??;

        Ok(Self {
            pid,
            watch,
            first_signal: if throw_away {
                Signal::QUIT
            } else {
                Signal::INT
            },
            #[cfg(not(target_os = "linux"))]
            _watchdog: watchdog::Watchdog::over(pid)?,
        })
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Returns the server's exit status, if it has exited.
    pub(crate) fn exit(&self) -> Option<ExitStatus> {
        *self.watch.lock()
    }

    /// Stops the server and waits for its exit, with stronger signals as time passes. Blocks.
    pub(crate) fn shut_down(&self) {
        // SIGTERM is not a step: it is PostgreSQL's smart shutdown, which waits until all clients
        // have disconnected.
        let steps = [
            (self.first_signal, Duration::from_secs(20)),
            (Signal::QUIT, Duration::from_secs(10)),
            (Signal::KILL, Duration::from_secs(5)),
        ];

        for (signal, patience) in steps {
            self.signal(signal);
            if let Some(status) = self.watch.wait(patience) {
                tracing::debug!(%status, "postgres stopped");
                return;
            }

            tracing::warn!(
                pid = self.pid(),
                ?signal,
                ?patience,
                "postgres didn't stop in time"
            );
        }
    }

    /// Sends a signal. The child can't be reaped while the lock is held, so its process id can't
    /// belong to another process.
    fn signal(&self, signal: Signal) {
        let exit = self.watch.lock();
        if exit.is_none() {
            let _ = kill_process(self.pid, signal);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.exit().is_none() {
            self.shut_down();
        }
    }
}

impl Watch {
    /// Waits until the child has exited, and then reaps it while holding the lock.
    fn follow(&self, mut child: Child, pid: Pid) {
        // `NOWAIT` leaves a zombie, so the process id stays reserved until the lock is held.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(
            waitid(WaitId::Pid(pid), options),
            Err(rustix::io::Errno::INTR)
        ) {}

        let mut exit = self.lock();

        // An error means that other code has reaped the child, so it has exited.
        *exit = Some(child.wait().unwrap_or_default());

        self.changed.notify_all();
    }

    fn wait(&self, patience: Duration) -> Option<ExitStatus> {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), patience, |exit| exit.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, Option<ExitStatus>> {
        self.exit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
