//! The data directory: created once, checked on each start.

pub(crate) mod layout;
mod lock;
pub(crate) mod pidfile;
mod temporary;

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

pub(crate) use self::{lock::Lock, temporary::Temporary};
use crate::{
    Binaries, Error, Result,
    identity::{Death, Identity},
    spawn,
};

/// Name prefix of a folder that `initdb` has not completed.
const UNFINISHED: &str = "postgres.new-";

/// Permission bits that PostgreSQL rejects on a data directory: all bits for others, and write
/// access for the group.
const OPEN_TO_OTHERS: u32 = 0o027;

/// Returns the major version that created the cluster; `None` if there is no cluster yet.
pub(crate) fn version(data: &Path) -> Option<String> {
    fs::read_to_string(data.join("PG_VERSION"))
        .ok()
        .map(|text| text.trim().to_owned())
}

/// Creates the cluster, or checks that this server can run the existing one.
pub(crate) fn prepare(data: &Path, binaries: &Binaries, identity: &Identity) -> Result<()> {
    let Some(cluster) = version(data) else {
        return create(data, binaries, identity);
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

/// Creates the cluster under a temporary name and renames it when it is complete, so the result of
/// an interrupted `initdb` is never mistaken for a cluster.
fn create(data: &Path, binaries: &Binaries, identity: &Identity) -> Result<()> {
    // An empty directory is no obstacle: `rename` replaces it.
    if fs::read_dir(data).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::NotACluster {
            data: data.to_path_buf(),
        });
    }

    let root = data.parent().unwrap_or(Path::new("/"));
    sweep(root);

    // Each attempt has a unique name, because a killed `initdb` may keep running for a moment.
    let unfinished = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(root)
        .map_err(Error::io("create a folder in", root))?;
    identity.claim(unfinished.path())?;
    initdb(unfinished.path(), binaries, identity)?;
    fs::rename(unfinished.path(), data).map_err(Error::io("create", data))?;
    let _moved = unfinished.keep();

    Ok(())
}

/// Runs `initdb`. `--no-sync` saves seconds, and a development cluster does not need the sync.
fn initdb(data: &Path, binaries: &Binaries, identity: &Identity) -> Result<()> {
    let program = binaries.program("initdb");
    let mut command = spawn::command(&program);

    // Every system has the locale C, and all sort it equally. The superuser would otherwise have
    // the name of the system's user.
    command
        .args([
            "--no-sync",
            "--locale=C",
            "--encoding=UTF8",
            "--username=postgres",
            "--auth=trust",
            "--pgdata",
        ])
        .arg(data)
        .stdin(Stdio::null());

    neutral(&mut command);
    identity.adopt(&mut command, Death::Kill);
    let output = command.output().map_err(Error::io("run", &program))?;
    if output.status.success() {
        return Ok(());
    }

    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();

    Err(Error::Initdb {
        status: output.status,
        output: complaint,
    })
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

/// Removes the leftovers of interrupted programs. Leftovers that can't be removed are harmless.
fn sweep(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
