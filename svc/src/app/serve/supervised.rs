//! A server under `svc dev`: it inherits its socket from there, reports when it serves, and ends
//! with it.
//!
//! The socket stays with `svc dev`, so that clients wait in its backlog, and are never refused,
//! while one program replaces another. It is passed as standard input, as inetd does.

use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::getppid;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// The variable with the path of the file that reports that the program serves.
const VARIABLE: &str = "SVC_SUPERVISED";
/// The interval between two checks whether `svc dev` is still running.
const LOOK: Duration = Duration::from_millis(500);

/// The socket and the file handed over by `svc dev`.
#[derive(Debug)]
pub(super) struct Supervised {
    ready: PathBuf,
    parent: Option<rustix::process::Pid>,
}

impl Supervised {
    /// Returns the supervision, if `svc dev` has started this program.
    pub(super) fn from_env() -> Option<Self> {
        let ready = std::env::var_os(VARIABLE).filter(|file| !file.is_empty())?;
        Some(Self {
            ready: ready.into(),
            parent: getppid(),
        })
    }

    /// Returns the socket to serve.
    pub(super) fn listener(&self) -> io::Result<TcpListener> {
        let listener = std::net::TcpListener::from(io::stdin().as_fd().try_clone_to_owned()?);

        // tokio expects a non-blocking socket: a blocking `accept` would stop the runtime's thread.
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    }

    /// Reports that the program serves.
    pub(super) fn is_ready(&self) -> io::Result<()> {
        std::fs::write(&self.ready, std::process::id().to_string())
    }

    /// Waits until `svc dev` has ended, for any reason.
    pub(super) async fn abandoned(&self) {
        // The kernel gives an orphan to another process, so the parent's id changes even if `svc
        // dev` was killed.
        while getppid() == self.parent {
            sleep(LOOK).await;
        }
    }
}
