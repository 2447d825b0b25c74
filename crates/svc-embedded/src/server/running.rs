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
            (Answer::Nobody, Holder::Nobody) => return Ok(None),
            (Answer::Nobody, Holder::Stranger) => {
                forget(data)?;
                return Ok(None);
            }
            // The server is starting, or shutting down, or has not created its socket yet. If its
            // process is not visible, it is one of another container.
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

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{UnixListener, UnixStream},
    };

    use super::*;

    /// No process of this system has this id.
    const INVISIBLE: i32 = 999_999_999;

    /// Reads a start-up message, and responds.
    async fn respond(mut stream: UnixStream, kind: u8, body: &[u8]) {
        let length = stream.read_u32().await.unwrap() as usize;
        stream.read_exact(&mut vec![0; length - 4]).await.unwrap();
        stream.write_u8(kind).await.unwrap();
        let length = u32::try_from(body.len() + 4).unwrap();
        stream.write_u32(length).await.unwrap();
        stream.write_all(body).await.unwrap();
    }

    #[tokio::test]
    async fn a_starting_server_of_another_container_is_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let (data, sockets) = (root.path().join("data"), root.path().join("run"));
        fs::create_dir(&data).unwrap();
        fs::create_dir(&sockets).unwrap();
        let text = format!(
            "{INVISIBLE}\n{}\n1700000000\n5432\n{}\n\n",
            data.display(),
            sockets.display()
        );
        fs::write(pidfile::path(&data), text).unwrap();

        let listener = UnixListener::bind(layout::socket(&sockets, 5432)).unwrap();
        let server = async {
            for _ in 0..3 {
                let (stream, _) = listener.accept().await.unwrap();
                respond(
                    stream,
                    b'E',
                    b"SFATAL\0C57P03\0Mthe database system is starting up\0\0",
                )
                .await;
            }
            let (stream, _) = listener.accept().await.unwrap();
            respond(stream, b'Z', b"I").await;
        };

        let (found, ()) = tokio::join!(find(&data, Tcp::Off), server);
        assert_eq!(found.unwrap().map(|running| running.pid), Some(INVISIBLE));
        drop(listener);

        // Its socket still exists, but no server listens on it.
        assert!(find(&data, Tcp::Off).await.unwrap().is_none());
    }
}
