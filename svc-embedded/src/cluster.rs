//! The data directory: made once, checked on every start.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    Binaries, Error, Result,
    identity::{Death, Identity},
    spawn,
};

/// The beginning of the name of a folder whose `initdb` isn't done.
const UNFINISHED: &str = "postgres.new-";

/// The permissions that PostgreSQL does not allow of a data directory: any for others, and writing for the group.
const OPEN_TO_OTHERS: u32 = 0o027;

/// The major version that made a cluster; `None` where there is none yet.
pub(crate) fn version(data: &Path) -> Option<String> {
    fs::read_to_string(data.join("PG_VERSION")).ok().map(|text| text.trim().to_owned())
}

/// Makes the cluster, or checks that this server can run the one that is there.
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
    identity.claim(data)?;
    close(data)
}

/// PostgreSQL refuses a data directory that others may open, such as one that was copied or checked out.
fn close(data: &Path) -> Result<()> {
    let mode = fs::metadata(data).map_err(Error::io("look at", data))?.permissions().mode();
    if mode & OPEN_TO_OTHERS == 0 {
        return Ok(());
    }
    tracing::debug!(path = %data.display(), "closing the data directory to other users");
    fs::set_permissions(data, Permissions::from_mode(0o700)).map_err(Error::io("change the mode of", data))
}

/// Makes the cluster beside its place and moves it there when it is complete, so an interrupted
/// `initdb` is never taken for a cluster.
fn create(data: &Path, binaries: &Binaries, identity: &Identity) -> Result<()> {
    if fs::read_dir(data).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::NotACluster { data: data.to_path_buf() });
    }
    let root = data.parent().unwrap_or(Path::new("/"));
    sweep(root);
    // Each attempt has a name of its own: a killed `initdb` may take a moment to be gone.
    let unfinished =
        tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(root).map_err(Error::io("create a folder in", root))?;
    identity.claim(unfinished.path())?;
    initdb(unfinished.path(), binaries, identity)?;
    fs::rename(unfinished.path(), data).map_err(Error::io("create", data))?;
    let _moved = unfinished.keep();
    Ok(())
}

/// Without `--no-sync` this takes seconds longer; a development cluster needs no such care.
fn initdb(data: &Path, binaries: &Binaries, identity: &Identity) -> Result<()> {
    let program = binaries.program("initdb");
    let mut command = spawn::command(&program);
    command
        .args(["--no-sync", "--locale=C", "--encoding=UTF8", "--username=postgres", "--auth=trust", "--pgdata"])
        .arg(data)
        .stdin(Stdio::null());
    neutral(&mut command);
    identity.adopt(&mut command, Death::Kill);
    let output = command.output().map_err(Error::io("run", &program))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Initdb { status: output.status, output: complaint })
}

/// Takes away what a user's environment would change: `PGDATA`, `PGPORT` and their kin. The
/// working directory may be closed to the server's user, and messages are to be in English.
pub(crate) fn neutral(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C").current_dir("/");
}

/// Removes what interrupted programs left. What can't be removed does no harm.
fn sweep(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
