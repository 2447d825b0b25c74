//! Temporary data roots. The ones that killed programs left behind are removed later.

use std::{
    fs::{self, DirEntry, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    time::Duration,
};

use tempfile::TempDir;

use super::{
    lock::Lock,
    pidfile::{Holder, PidFile},
};
use crate::{Error, Result};

const PREFIX: &str = "svc-postgres-";

/// Name of the lock that a program holds while it runs. A root with a free lock is a leftover.
const IN_USE: &str = "in-use.lock";

/// Minimum age of a leftover, because a new root has no lock for a moment.
const YOUNG: Duration = Duration::from_secs(60);

/// A data root that is removed on drop.
#[derive(Debug)]
pub(crate) struct Temporary {
    folder: TempDir,
    _in_use: Lock,
}

impl Temporary {
    /// Creates a root in the temporary directory. A thread removes the leftovers of killed programs
    /// meanwhile, because that can take minutes for hundreds of databases.
    pub(crate) fn create() -> Result<Self> {
        let parent = std::env::temp_dir();
        let leftovers = parent.clone();

        // If the thread can't be started, they remain for the next program.
        let _ = std::thread::Builder::new()
            .name("svc-embedded-sweep".to_owned())
            .spawn(move || sweep(&leftovers));

        // Other users, such as the server's, can pass through but not list the contents. They have
        // no access to the cluster inside.
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o711))
            .tempdir_in(&parent)
            .map_err(Error::io("create a folder in", parent))?;

        let in_use =
            Lock::try_acquire(&folder.path().join(IN_USE))?.ok_or_else(|| Error::Locked {
                path: folder.path().to_path_buf(),
                waited: Duration::ZERO,
            })?;

        Ok(Self {
            folder,
            _in_use: in_use,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the leftovers in a folder. An error is no reason to fail: the leftover remains.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };

    for entry in entries.flatten().filter(is_old_root) {
        let root = entry.path();
        let data = root.join("postgres");

        // A server outlives its killed program until it has shut down.
        let serves = PidFile::read(&data)
            .ok()
            .flatten()
            .is_some_and(|file| file.holder(&data) == Holder::Server);

        // The lock is held during the removal, so that two sweeps do not remove the same root.
        let Ok(Some(_lock)) = Lock::try_acquire(&root.join(IN_USE)) else {
            continue;
        };

        if !serves {
            tracing::debug!(root = %root.display(), "removing what a killed program left");
            let _ = fs::remove_dir_all(&root);
        }
    }
}

fn is_old_root(entry: &DirEntry) -> bool {
    let named = entry.file_name().to_string_lossy().starts_with(PREFIX);

    // Anyone can create a link or a folder with this name in the temporary directory.
    let Some(metadata) = named
        .then(|| fs::symlink_metadata(entry.path()).ok())
        .flatten()
    else {
        return false;
    };

    // An unknown age, or a time in the future, counts as young.
    let age = metadata
        .modified()
        .ok()
        .and_then(|time| time.elapsed().ok())
        .unwrap_or_default();

    metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw() && age > YOUNG
}

#[cfg(test)]
mod tests {
    use std::{fs::File, time::SystemTime};

    use super::*;

    fn root(parent: &Path, name: &str, age: Duration) -> std::path::PathBuf {
        let root = parent.join(name);
        fs::create_dir(&root).unwrap();
        File::open(&root)
            .unwrap()
            .set_modified(SystemTime::now() - age)
            .unwrap();
        root
    }

    #[test]
    fn sweeps_leftovers_only() {
        let parent = tempfile::tempdir().unwrap();
        let left = root(parent.path(), "svc-postgres-left", YOUNG * 2);
        let young = root(parent.path(), "svc-postgres-young", Duration::ZERO);
        let foreign = root(parent.path(), "other", YOUNG * 2);
        let used = root(parent.path(), "svc-postgres-used", YOUNG * 2);
        let _lock = Lock::try_acquire(&used.join(IN_USE)).unwrap().unwrap();

        File::open(&used)
            .unwrap()
            .set_modified(SystemTime::now() - YOUNG * 2)
            .unwrap();
        sweep(parent.path());
        assert!(!left.exists());

        assert!(young.exists() && foreign.exists() && used.exists());
    }
}
