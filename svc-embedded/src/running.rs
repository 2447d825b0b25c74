//! A server that runs this cluster already, for another program.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::{
    Error, Result, layout,
    options::Tcp,
    pidfile::{self, Holder, PidFile},
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
    let begun = Instant::now();
    while let Some(file) = PidFile::read(data) {
        let answer = wire::ask(&layout::socket(&file.sockets, file.port)).await;
        match (answer, file.holder(data)) {
            (Answer::Ready, _) => return share(file, data, wanted).map(Some),
            (_, Holder::Nobody) => return Ok(None),
            (Answer::Nobody, Holder::Stranger) => {
                forget(data)?;
                return Ok(None);
            }
            _ if begun.elapsed() > PATIENCE => {
                return Err(Error::Unresponsive { pid: file.pid, data: data.to_path_buf() });
            }
            _ => sleep(Duration::from_millis(5)).await,
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

/// PostgreSQL refuses to start while the number in the file belongs to any process of its user,
/// which in a restarted container is likely.
fn forget(data: &Path) -> Result<()> {
    let path = pidfile::path(data);
    tracing::debug!(path = %path.display(), "removing a stale file: its process is another program");
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
