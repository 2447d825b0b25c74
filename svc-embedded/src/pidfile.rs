//! `postmaster.pid`, in which a server says where it listens.
//!
//! <https://www.postgresql.org/docs/current/storage-file-layout.html>

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, test_kill_process};

/// The contents of the file, as a running server wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PidFile {
    pub(crate) pid: i32,
    pub(crate) port: u16,
    pub(crate) sockets: PathBuf,
    pub(crate) tcp: bool,
}

/// The holder of the number in the file: after a crash that may be any other process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The server of this data directory.
    Server,
    /// A process that has nothing to do with it.
    Stranger,
    /// No process.
    Nobody,
}

/// Returns the path at which the server of this data directory writes it.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("postmaster.pid")
}

impl PidFile {
    /// Reads the file of a data directory; `None` when there is none or it isn't complete.
    pub(crate) fn read(data: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(path(data)).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let pid = lines.next()?.trim().parse().ok()?;
        let port = lines.nth(2)?.trim().parse().ok()?;
        let sockets = PathBuf::from(lines.next()?);
        let tcp = lines.next().is_some_and(|address| !address.trim().is_empty());
        Some(Self { pid, port, sockets, tcp })
    }

    /// Returns the process that has this number now.
    pub(crate) fn holder(&self, data: &Path) -> Holder {
        let Some(pid) = Pid::from_raw(self.pid.abs()) else {
            return Holder::Nobody;
        };
        if matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)) {
            return Holder::Nobody;
        }
        if works_in(self.pid, data) { Holder::Server } else { Holder::Stranger }
    }
}

/// A postmaster works in its data directory. Where that can't be seen, the file is believed.
#[cfg(target_os = "linux")]
fn works_in(pid: i32, data: &Path) -> bool {
    match fs::read_link(format!("/proc/{pid}/cwd")) {
        Ok(folder) => data.canonicalize().map_or(true, |data| folder == data),
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
    }
}

#[cfg(not(target_os = "linux"))]
fn works_in(pid: i32, _data: &Path) -> bool {
    let output = crate::spawn::command("ps").args(["-o", "comm=", "-p", &pid.to_string()]).output();
    output.map_or(true, |output| String::from_utf8_lossy(&output.stdout).contains("postgres"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "4711\n/p/.svc/postgres\n1700000000\n20001\n/p/.svc/postgres.run\n127.0.0.1\n  123 4\nready   \n";

    #[test]
    fn reads_a_servers_file() {
        let sockets = PathBuf::from("/p/.svc/postgres.run");
        let expected = PidFile { pid: 4711, port: 20_001, sockets, tcp: true };
        assert_eq!(PidFile::parse(TEXT), Some(expected));
        let without_tcp = TEXT.replace("127.0.0.1", "");
        assert_eq!(PidFile::parse(&without_tcp).map(|file| file.tcp), Some(false));
    }

    #[test]
    fn ignores_an_incomplete_file() {
        assert_eq!(PidFile::parse("4711\n/p/.svc/postgres\n"), None);
        assert_eq!(PidFile::parse(""), None);
    }

    #[test]
    fn another_process_with_the_number_is_not_the_server() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let file = PidFile { pid, port: 5432, sockets: PathBuf::new(), tcp: false };
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(file.holder(folder.path()), Holder::Stranger);
    }
}
