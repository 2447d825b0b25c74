//! The locations of a cluster's files.

use std::{
    fs::{self, DirBuilder},
    io::ErrorKind,
    os::unix::fs::{DirBuilderExt, MetadataExt, lchown},
    path::{Path, PathBuf},
};

use crate::{Error, Result, identity::Identity};

/// Maximum length of the path of a unix socket in bytes: 107 on Linux, 103 on macOS.
const MAX_SOCKET_PATH: usize = 103;

const WRITABLE_BY_ALL: u32 = 0o002;
const OPEN_TO_OTHERS: u32 = 0o077;

/// The files of one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The data directory.
    pub(crate) data: PathBuf,
    /// The folder of the socket.
    pub(crate) sockets: PathBuf,
    /// The server's log.
    pub(crate) log: PathBuf,
}

impl Layout {
    /// Plans the files of a cluster below an existing root. A socket with too long a path goes
    /// elsewhere, and so do files that the server's user couldn't reach in the root.
    pub(crate) fn plan(root: &Path, identity: &Identity) -> Result<Self> {
        let root = root.canonicalize().map_err(Error::io("open", root))?;
        let reached = identity.reaches(&root);
        let log = root.join("postgres.log");
        let data = root.join("postgres");
        let sockets = root.join("postgres.run");

        if reached && fits(&sockets) {
            return Ok(Self { data, sockets, log });
        }

        let short = short_folder(&root, identity);
        let data = if reached { data } else { short.join("data") };

        Ok(Self {
            data,
            sockets: short,
            log,
        })
    }

    /// Creates the folder of the sockets. Its permissions decide who can connect.
    pub(crate) fn create_sockets(&self, identity: &Identity) -> Result<()> {
        let (uid, gid) = identity.owner();

        // The mode is set with the creation: another user could otherwise enter before a `chmod`.
        match DirBuilder::new().mode(0o700).create(&self.sockets) {
            Ok(()) => lchown(&self.sockets, Some(uid), Some(gid))
                .map_err(Error::io("change the owner of", &self.sockets)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => self.check_sockets(identity),
            Err(error) => Err(Error::io("create", &self.sockets)(error)),
        }
    }

    /// Checks an existing folder. In `/tmp` its name can be guessed, so another user may have
    /// created it before us. In our own folder, another owner only means that the server had
    /// another identity.
    fn check_sockets(&self, identity: &Identity) -> Result<()> {
        let look = |path: &Path| fs::symlink_metadata(path).map_err(Error::io("look at", path));
        let metadata = look(&self.sockets)?;
        let (uid, _) = identity.owner();
        let guessable = match self.sockets.parent() {
            Some(parent) => look(parent)?.mode() & WRITABLE_BY_ALL != 0,
            None => true,
        };

        // The cluster trusts every connection, so the access to this folder is the only protection.
        let foreign = guessable && metadata.uid() != uid;
        if !metadata.is_dir() || foreign || metadata.mode() & OPEN_TO_OTHERS != 0 {
            return Err(Error::NotPrivate {
                path: self.sockets.clone(),
                uid,
            });
        }

        identity.claim(&self.sockets)
    }
}

/// Returns the path of a server's socket in its folder.
pub(crate) fn socket(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!(".s.PGSQL.{port}"))
}

/// Returns `true` if a socket's path is short enough, and UTF-8, as the URL requires.
fn fits(folder: &Path) -> bool {
    folder.to_str().is_some() && socket(folder, u16::MAX).as_os_str().len() <= MAX_SOCKET_PATH
}

/// Returns a folder with a short path that depends only on the root and the user. `/tmp` comes
/// first, because `TMPDIR` may differ between two programs that share the root.
fn short_folder(root: &Path, identity: &Identity) -> PathBuf {
    let (uid, _) = identity.owner();
    let name = format!(
        "svc-{uid}-{:016x}",
        fnv1a(root.as_os_str().as_encoded_bytes())
    );
    let parent = PathBuf::from("/tmp");
    if parent.is_dir() {
        parent.join(name)
    } else {
        std::env::temp_dir().join(name)
    }
}

/// FNV-1a, because the hash must be equal in all programs. The standard library doesn't guarantee
/// that.
/// <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv-17>
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_root_holds_everything() {
        let root = tempfile::tempdir().unwrap();
        let layout = Layout::plan(root.path(), &Identity::Caller).unwrap();
        let root = root.path().canonicalize().unwrap();
        assert_eq!(layout.data, root.join("postgres"));
        assert_eq!(layout.sockets, root.join("postgres.run"));
    }

    #[test]
    fn a_long_root_gets_its_socket_elsewhere() {
        let root = tempfile::tempdir().unwrap();
        let long = root.path().join("x".repeat(120));
        fs::create_dir(&long).unwrap();
        let layout = Layout::plan(&long, &Identity::Caller).unwrap();
        assert_eq!(layout.data, long.canonicalize().unwrap().join("postgres"));
        assert!(fits(&layout.sockets), "{}", layout.sockets.display());
        assert_eq!(layout, Layout::plan(&long, &Identity::Caller).unwrap());
    }

    #[test]
    fn a_folder_that_others_can_open_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let layout = Layout::plan(root.path(), &Identity::Caller).unwrap();
        DirBuilder::new()
            .mode(0o755)
            .create(&layout.sockets)
            .unwrap();
        let error = layout.create_sockets(&Identity::Caller).unwrap_err();
        assert!(matches!(error, Error::NotPrivate { .. }), "{error}");
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
