//! The program under `svc dev`.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::GRACE;
use super::process_record::ProcessRecord;
use crate::failure::{Failure, Result};
use crate::program::Built;
use crate::project::Project;

/// The polling interval while the program starts.
const LOOK: Duration = Duration::from_millis(10);
/// The maximum time until the program serves.
const START: Duration = Duration::from_secs(60);

/// A program that serves.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    group: Option<Pid>,
    /// The folder of the file that signals that it serves.
    _folder: TempDir,
}

impl Server {
    /// Starts a program, and waits until it serves.
    pub(super) async fn start(
        project: &Project,
        program: &Built,
        listener: &TcpListener,
        record: &ProcessRecord,
    ) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(Failure::io("create a temporary folder"))?;
        let ready = folder.path().join("ready");
        let address = listener
            .local_addr()
            .map_err(Failure::io("find the local address"))?;
        let socket: OwnedFd = listener
            .try_clone()
            .map_err(Failure::io("share the socket"))?
            .into();
        let child = Command::new(&program.executable)
            .current_dir(project.root())
            .envs(project.settings().map(|(name, value)| (name, value)))
            .env("SVC_HOST", address.ip().to_string())
            .env("SVC_PORT", address.port().to_string())
            .env("SVC_SUPERVISED", &ready)
            // As standard input: all other descriptors are closed when the program starts.
            .stdin(Stdio::from(socket))
            // A separate process group, so that all its processes can be stopped, and Ctrl-C only
            // reaches `svc dev`.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(Failure::io(format!("run {}", program.executable.display())))?;

        // With `process_group(0)`, the process ID is also the ID of its group.
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        group.into_iter().for_each(|group| record.add(group));
        let mut server = Self {
            child,
            group,
            _folder: folder,
        };

        let serves = async {
            while !ready.exists() {
                if let Ok(Some(status)) = server.child.try_wait() {
                    return Err(Failure::new(format!(
                        "the program exited before it served: {status}"
                    )));
                }
                sleep(LOOK).await;
            }
            Ok(())
        };

        match timeout(START, serves).await {
            Ok(Ok(())) => Ok(server),
            Ok(Err(failure)) => Err(failure.hint("see the program's output above")),
            Err(_) => {
                server.stop().await;
                let failure = Failure::new(format!(
                    "the program did not serve within {} seconds",
                    START.as_secs()
                ));
                Err(failure
                    .hint("end its main function with svc::serve(…), which reports when it serves"))
            }
        }
    }

    /// Waits until it exits.
    pub(super) async fn ended(&mut self) -> ExitStatus {
        // An error means that the process was waited for elsewhere: it has exited in any case.
        self.child.wait().await.unwrap_or_default()
    }

    /// Stops it and all its processes, with SIGTERM first.
    pub(super) async fn stop(mut self) {
        self.signal(Signal::TERM);
        if timeout(GRACE, self.child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            // It cannot ignore this signal.
            let _ = self.child.wait().await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The group may have exited already.
            let _ = kill_process_group(group, signal);
        }
    }
}
