//! The search for a server that already runs this cluster for another program.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::wire::{self, Answer};
use crate::{
    Error, Result,
    cluster::{
        layout,
        pidfile::{self, Contents, Holder, PidFile},
    },
    options::Tcp,
    wait::Wait,
};

/// Maximum wait. A fast shutdown first writes a checkpoint, which can take long on a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of another program, and the addresses it listens on.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) sockets: PathBuf,
    pub(crate) port: u16,
    pub(crate) tcp: bool,
    pub(crate) pid: i32,
}

/// Finds the server of a data directory. Waits while a server is starting or shutting down.
pub(crate) async fn find(data: &Path, wanted: Tcp) -> Result<Option<Running>> {
    let mut wait = Wait::new(PATIENCE);
    while let Some(contents) = PidFile::read(data)? {
        let holder = contents.holder(data);
        let file = match contents {
            Contents::Complete(file) => file,
            Contents::Incomplete { pid: Some(pid) } if holder == Holder::Server => {
                wait.pause(|| {
                    format!(
                        "process {pid}, which starts PostgreSQL in {}",
                        data.display()
                    )
                })
                .await
                .map_err(|_| Error::Unresponsive {
                    pid,
                    data: data.to_path_buf(),
                })?;
                continue;
            }
            Contents::Incomplete { .. } => {
                forget(data)?;
                return Ok(None);
            }
        };

        let answer = wire::ask(&layout::socket(&file.sockets, file.port)).await;
        match (answer, holder) {
            // An answer is sufficient: the process of a server in another container is not visible
            // here.
            (Answer::Ready, _) => return share(file, data, wanted).map(Some),
            // PostgreSQL itself replaces a file whose process is gone.
            (_, Holder::Nobody) => return Ok(None),
            (Answer::Nobody, Holder::Stranger) => {
                forget(data)?;
                return Ok(None);
            }
            // The server is starting, or shutting down, or has not created its socket yet.
            _ => wait
                .pause(|| {
                    format!(
                        "the PostgreSQL of process {} in {} to accept connections",
                        file.pid,
                        data.display()
                    )
                })
                .await
                .map_err(|_| Error::Unresponsive {
                    pid: file.pid,
                    data: data.to_path_buf(),
                })?,
        }
    }

    Ok(None)
}

fn share(file: PidFile, data: &Path, wanted: Tcp) -> Result<Running> {
    let suits = match wanted {
        Tcp::Off => true,
        Tcp::FreePort => file.tcp,
        Tcp::Port(port) => file.tcp && file.port == port,
    };

    if !suits {
        return Err(Error::TcpUnavailable {
            data: data.to_path_buf(),
        });
    }

    tracing::debug!(pid = file.pid, "sharing the postgres of another program");

    Ok(Running {
        sockets: file.sockets,
        port: file.port,
        tcp: file.tcp,
        pid: file.pid,
    })
}

/// Removes a stale file. PostgreSQL refuses to start while the file is empty, or while its process
/// id belongs to any process of the same user, which is likely in a restarted container.
fn forget(data: &Path) -> Result<()> {
    let path = pidfile::path(data);
    tracing::debug!(path = %path.display(), "removing a stale file: no server of this folder has written it");
    fs::remove_file(&path).map_err(Error::io("remove", path))
}

/// Removes the sockets and lock files of a killed server. Call it only if no server is running.
pub(crate) fn sweep_sockets(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)
        .map_err(Error::io("list", folder))?
        .flatten()
    {
        // A stale `.lock` file prevents a start if another process has its process id.
        if entry.file_name().to_string_lossy().starts_with(".s.PGSQL.") {
            fs::remove_file(entry.path()).map_err(Error::io("remove", entry.path()))?;
        }
    }

    Ok(())
}
