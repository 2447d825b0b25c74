//! A server that runs this cluster already, for another program.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    Error, Result, layout,
    options::Tcp,
    pidfile::{self, Contents, Holder, PidFile},
    wait::Wait,
    wire::{self, Answer},
};

/// A fast shutdown writes a checkpoint first, which can take a while on a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that another program runs, and where it listens.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) sockets: PathBuf,
    pub(crate) port: u16,
    pub(crate) tcp: bool,
    pub(crate) pid: i32,
}

/// Looks for a server of this data directory. One that starts up or shuts down is waited for.
pub(crate) async fn find(data: &Path, wanted: Tcp) -> Result<Option<Running>> {
    let mut wait = Wait::new(PATIENCE);
    while let Some(contents) = PidFile::read(data)? {
        let holder = contents.holder(data);
        let file = match contents {
            Contents::Complete(file) => file,
            Contents::Incomplete { pid: Some(pid) } if holder == Holder::Server => {
                wait.pause(|| format!("process {pid}, which starts PostgreSQL in {}", data.display()))
                    .await
                    .map_err(|_| Error::Unresponsive { pid, data: data.to_path_buf() })?;
                continue;
            }
            Contents::Incomplete { .. } => {
                forget(data)?;
                return Ok(None);
            }
        };
        let answer = wire::ask(&layout::socket(&file.sockets, file.port)).await;
        match (answer, holder) {
            (Answer::Ready, _) => return share(file, data, wanted).map(Some),
            (_, Holder::Nobody) => return Ok(None),
            (Answer::Nobody, Holder::Stranger) => {
                forget(data)?;
                return Ok(None);
            }
            _ => wait
                .pause(|| format!("the PostgreSQL of process {} in {} to accept connections", file.pid, data.display()))
                .await
                .map_err(|_| Error::Unresponsive { pid: file.pid, data: data.to_path_buf() })?,
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
        return Err(Error::TcpUnavailable { data: data.to_path_buf() });
    }
    tracing::debug!(pid = file.pid, "sharing the postgres of another program");
    Ok(Running { sockets: file.sockets, port: file.port, tcp: file.tcp, pid: file.pid })
}

/// PostgreSQL refuses to start while the number in the file belongs to any process of its user, which in a restarted
/// container is likely, and while the file is empty.
fn forget(data: &Path) -> Result<()> {
    let path = pidfile::path(data);
    tracing::debug!(path = %path.display(), "removing a stale file: no server of this folder has written it");
    fs::remove_file(&path).map_err(Error::io("remove", path))
}

/// Removes sockets and their lock files that a killed server left. Only when no server runs.
pub(crate) fn sweep_sockets(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(".s.PGSQL.") {
            fs::remove_file(entry.path()).map_err(Error::io("remove", entry.path()))?;
        }
    }
    Ok(())
}
