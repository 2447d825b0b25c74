//! The user that the server runs as. PostgreSQL refuses to run as root, but containers run as root.

mod account;
mod child;
#[cfg(target_os = "linux")]
mod namespace;
mod reach;

use std::{
    fs, io,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

use account::Account;
pub(crate) use child::Death;
use rustix::process::{getegid, geteuid};

use crate::{Binaries, Error, Result};

/// The user of the server and of `initdb`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The program's own user.
    Caller,
    /// Root, in a user namespace where its user id isn't 0.
    #[cfg(target_os = "linux")]
    Namespace,
    /// Another user.
    Other(Account),
}

impl Identity {
    /// Returns the first identity that can run this server. A user namespace comes first, because
    /// it can use the caller's folders; then come the users `postgres` and `nobody`.
    pub(crate) fn choose(binaries: &Binaries, user_namespace: bool) -> Result<Self> {
        if !geteuid().is_root() {
            return Ok(Self::Caller);
        }

        let mut tried = Vec::new();
        for candidate in Self::candidates(user_namespace) {
            match candidate.try_out(&binaries.program("postgres")) {
                Ok(()) => {
                    tracing::debug!(identity = ?candidate, "running as root; postgres gets another identity");
                    return Ok(candidate);
                }
                Err(error) => tried.push(format!("{}: {error}", candidate.name())),
            }
        }

        Err(Error::RootRefused {
            tried: tried.join("; "),
        })
    }

    fn candidates(user_namespace: bool) -> Vec<Self> {
        let mut candidates = Vec::new();
        #[cfg(target_os = "linux")]
        if user_namespace {
            candidates.push(Self::Namespace);
        }

        #[cfg(not(target_os = "linux"))]
        let _ = user_namespace;
        candidates.extend(accounts().map(Self::Other));

        candidates
    }

    /// Runs `postgres --version`, to check that the system permits this identity and that it can
    /// reach the programs.
    fn try_out(&self, postgres: &Path) -> io::Result<()> {
        let mut command = crate::spawn::command(postgres);
        command
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());

        self.adopt(&mut command, Death::Kill);
        let status = command.status()?;

        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other(format!(
                "`postgres --version` failed ({status})"
            )))
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Caller => "this user",
            #[cfg(target_os = "linux")]
            Self::Namespace => "user namespace",
            Self::Other(account) => &account.name,
        }
    }

    /// Makes a command run with this identity, and stop when the spawning thread ends.
    pub(crate) fn adopt(&self, command: &mut Command, death: Death) {
        // Ctrl-C signals the whole process group of the terminal, but the program may still need
        // the server.
        command.process_group(0);
        if let Self::Other(account) = self {
            command.uid(account.uid).gid(account.gid);
        }
        child::prepare(command, self, death);
    }

    /// Returns the user and the group that own the server's files.
    pub(crate) fn owner(&self) -> (u32, u32) {
        match self {
            Self::Other(account) => (account.uid, account.gid),
            _ => (geteuid().as_raw(), getegid().as_raw()),
        }
    }

    /// Returns `true` if this identity can enter a folder.
    pub(crate) fn reaches(&self, folder: &Path) -> bool {
        let (uid, gid) = self.owner();
        match self {
            Self::Caller => true,
            _ => reach::can_enter(uid, gid, folder),
        }
    }

    /// Makes this identity the owner of a folder and its contents. Refuses folders of users that
    /// root never runs a server as.
    pub(crate) fn claim(&self, folder: &Path) -> Result<()> {
        let owner = fs::symlink_metadata(folder)
            .map_err(Error::io("look at", folder))?
            .uid();
        let (uid, gid) = self.owner();
        if owner == uid || *self == Self::Caller {
            return Ok(());
        }

        if owner != geteuid().as_raw() && !accounts().any(|account| account.uid == owner) {
            return Err(Error::AnotherUsers {
                path: folder.to_path_buf(),
                uid: owner,
            });
        }

        reach::chown_all(folder, uid, gid).map_err(Error::io("change the owner of", folder))
    }
}

/// Returns the existing users that root can run a server as.
fn accounts() -> impl Iterator<Item = Account> {
    ["postgres", "nobody"]
        .into_iter()
        .filter_map(Account::named)
}
