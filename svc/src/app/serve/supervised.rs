//! A server under `svc dev`: it gets its socket from there, says when it serves, and ends with it.
//!
//! The socket stays with `svc dev`, so that clients wait in its backlog, and are never refused, while one program takes
//! the place of another. It comes as standard input, as inetd hands it over.

use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::getppid;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// The variable with the file that says that the program serves.
const VARIABLE: &str = "SVC_SUPERVISED";
/// The time between two looks whether `svc dev` is still there.
const LOOK: Duration = Duration::from_millis(500);

/// The socket and the file that `svc dev` has handed over.
#[derive(Debug)]
pub(super) struct Supervised {
    ready: PathBuf,
    parent: Option<rustix::process::Pid>,
}

impl Supervised {
    /// Whether `svc dev` has started this program.
    pub(super) fn from_env() -> Option<Self> {
        let ready = std::env::var_os(VARIABLE).filter(|file| !file.is_empty())?;
        Some(Self { ready: ready.into(), parent: getppid() })
    }

    /// The socket to serve.
    pub(super) fn listener(&self) -> io::Result<TcpListener> {
        let listener = std::net::TcpListener::from(io::stdin().as_fd().try_clone_to_owned()?);
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    }

    /// Says that the program serves.
    pub(super) fn is_ready(&self) -> io::Result<()> {
        std::fs::write(&self.ready, std::process::id().to_string())
    }

    /// Waits until `svc dev` has ended, however it did.
    pub(super) async fn abandoned(&self) {
        while getppid() == self.parent {
            sleep(LOOK).await;
        }
    }
}
