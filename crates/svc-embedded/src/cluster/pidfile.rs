//! `postmaster.pid`, where a server records its process and its addresses.
//!
//! <https://www.postgresql.org/docs/current/storage-file-layout.html>

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, test_kill_process};

use crate::{Error, Result};

/// The contents of the file of a running server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PidFile {
    pub(crate) pid: i32,
    pub(crate) port: u16,
    pub(crate) sockets: PathBuf,
    pub(crate) tcp: bool,
}

/// The current owner of the process id in the file. After a crash, it can be any other process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The server of this data directory.
    Server,
    /// An unrelated process.
    Stranger,
    /// No process.
    Nobody,
}

/// Returns the path of the file in a data directory.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("postmaster.pid")
}

impl PidFile {
    /// Reads the file of a data directory; `None` if it does not exist.
    pub(crate) fn read(data: &Path) -> Result<Option<Contents>> {
        let path = path(data);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", path)(error)),
        };

        let text = String::from_utf8_lossy(&bytes);
        Ok(Some(match Self::parse(&text) {
            Some(file) => Contents::Complete(file),
            None => Contents::Incomplete {
                pid: text
                    .lines()
                    .next()
                    .and_then(|line| line.trim().parse().ok()),
            },
        }))
    }

    fn parse(text: &str) -> Option<Self> {
        // The lines are: process id, data directory, start time, port, folder of the sockets,
        // address.
        let mut lines = text.lines();
        let pid = lines.next()?.trim().parse().ok()?;
        let port = lines.nth(2)?.trim().parse().ok()?;
        let sockets = PathBuf::from(lines.next()?);
        let tcp = lines
            .next()
            .is_some_and(|address| !address.trim().is_empty());

        Some(Self {
            pid,
            port,
            sockets,
            tcp,
        })
    }
}

/// The contents of an existing file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contents {
    Complete(PidFile),
    /// A starting server has not written all of it, or a crash of the machine has damaged it.
    Incomplete {
        /// The process id in its first line, if present.
        pid: Option<i32>,
    },
}

impl Contents {
    /// Returns the current owner of the process id in the file.
    pub(crate) fn holder(&self, data: &Path) -> Holder {
        match self {
            Self::Complete(file) => holder(file.pid, data),
            Self::Incomplete { pid } => pid.map_or(Holder::Nobody, |pid| holder(pid, data)),
        }
    }
}

/// Returns the current owner of a process id.
fn holder(pid: i32, data: &Path) -> Holder {
    // A standalone backend (`postgres --single`) writes its process id as a negative number.
    let pid = pid.saturating_abs();
    match Pid::from_raw(pid) {
        None => Holder::Nobody,
        // Any other error, such as EPERM, means that the process exists.
        Some(known) if matches!(test_kill_process(known), Err(rustix::io::Errno::SRCH)) => {
            Holder::Nobody
        }
        Some(_) if works_in(pid, data) => Holder::Server,
        Some(_) => Holder::Stranger,
    }
}

/// Returns `true` if a process may be the postmaster of a data directory, which is its working
/// directory. If the working directory is not readable, the process is another user's. It can then
/// be the postmaster only if that user owns the data directory.
#[cfg(target_os = "linux")]
fn works_in(pid: i32, data: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    match fs::read_link(format!("/proc/{pid}/cwd")) {
        // In doubt the process is the server: two servers would destroy the data.
        Ok(folder) => data.canonicalize().map_or(true, |data| folder == data),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            let owner = |path: &Path| fs::metadata(path).map(|metadata| metadata.uid()).ok();
            owner(Path::new(&format!("/proc/{pid}"))) == owner(data)
        }
        Err(_) => false,
    }
}

#[cfg(not(target_os = "linux"))]
fn works_in(pid: i32, _data: &Path) -> bool {
    let output = crate::spawn::command("ps")
        .args(["-o", "comm=", "-p", &pid.to_string()])
        .output();
    output.map_or(true, |output| {
        String::from_utf8_lossy(&output.stdout).contains("postgres")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "4711\n/p/.svc/postgres\n1700000000\n20001\n/p/.svc/postgres.run\n127.0.0.1\n  123 4\nready   \n";

    #[test]
    fn reads_a_servers_file() {
        let sockets = PathBuf::from("/p/.svc/postgres.run");
        let expected = PidFile {
            pid: 4711,
            port: 20_001,
            sockets,
            tcp: true,
        };

        assert_eq!(PidFile::parse(TEXT), Some(expected));
        let without_tcp = TEXT.replace("127.0.0.1", "");

        assert_eq!(
            PidFile::parse(&without_tcp).map(|file| file.tcp),
            Some(false)
        );
    }

    #[test]
    fn ignores_an_incomplete_file() {
        assert_eq!(PidFile::parse("4711\n/p/.svc/postgres\n"), None);
        assert_eq!(PidFile::parse(""), None);
    }

    #[test]
    fn another_process_with_the_number_is_not_the_server() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(holder(pid, folder.path()), Holder::Stranger);
    }
}
