//! The data directory: created once, checked on each start.

mod initdb;
pub(crate) mod layout;
mod lock;
pub(crate) mod pidfile;
mod temporary;

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
};

pub(crate) use self::{lock::Lock, temporary::Temporary};
use crate::{Binaries, Error, Result, identity::Identity};

/// Permission bits that PostgreSQL rejects on a data directory: all bits for others, and write
/// access for the group.
const OPEN_TO_OTHERS: u32 = 0o027;

/// Returns the major version that created the cluster; `None` if there is no cluster yet.
pub(crate) fn version(data: &Path) -> Option<String> {
    fs::read_to_string(data.join("PG_VERSION"))
        .ok()
        .map(|text| text.trim().to_owned())
}

/// Creates the cluster, by a copy from the cache of `initdb` if possible, or checks that this server
/// can run the existing one.
pub(crate) fn prepare(
    data: &Path,
    binaries: &Binaries,
    identity: &Identity,
    cache: Option<&Path>,
) -> Result<()> {
    let Some(cluster) = version(data) else {
        return create(data, binaries, identity, cache);
    };

    if !binaries.version().runs(&cluster) {
        return Err(Error::VersionMismatch {
            data: data.to_path_buf(),
            cluster,
            binaries: binaries.folder().to_path_buf(),
            server: binaries.version(),
        });
    }

    // PostgreSQL refuses a data directory that another user owns.
    identity.claim(data)?;

    close(data)
}

/// Removes the access of other users, which PostgreSQL rejects. A data directory that was copied or
/// checked out usually has it.
fn close(data: &Path) -> Result<()> {
    let mode = fs::metadata(data)
        .map_err(Error::io("look at", data))?
        .permissions()
        .mode();
    if mode & OPEN_TO_OTHERS == 0 {
        return Ok(());
    }

    tracing::debug!(path = %data.display(), "closing the data directory to other users");

    fs::set_permissions(data, Permissions::from_mode(0o700))
        .map_err(Error::io("change the mode of", data))
}

/// Creates the cluster under a temporary name and renames it when it is complete.
fn create(
    data: &Path,
    binaries: &Binaries,
    identity: &Identity,
    cache: Option<&Path>,
) -> Result<()> {
    // An empty directory is no obstacle: `rename` replaces it.
    if fs::read_dir(data).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::NotACluster {
            data: data.to_path_buf(),
        });
    }

    let root = data.parent().unwrap_or(Path::new("/"));
    let complete = initdb::create(root, binaries, identity, cache)?;
    fs::rename(complete.path(), data).map_err(Error::io("create", data))?;
    let _moved = complete.keep();

    Ok(())
}

/// Removes the influence of the user's environment: `PGDATA`, `PGPORT` and similar variables, the
/// language of messages, and a working directory that the server's user may be unable to open.
pub(crate) fn neutral(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C").current_dir("/");
}
