//! `initdb`, and the cache of its result.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf, absolute},
    process::Stdio,
};

use tempfile::TempDir;

use super::{Lock, neutral, version};
use crate::{
    Binaries, Error, Result,
    identity::{Death, Identity},
    spawn,
};

/// Name prefix of a folder that is not a complete cluster yet.
const UNFINISHED: &str = "postgres.new-";

/// Name of the lock that a program holds while it fills the cache.
const LOCK: &str = "initdb.lock";

/// Creates a cluster in a new folder below `root`: a copy from the cache, or the result of
/// `initdb`. The caller renames the folder, so the result of an interrupted start is never mistaken
/// for a cluster.
pub(super) fn create(
    root: &Path,
    binaries: &Binaries,
    identity: &Identity,
    cache: Option<&Path>,
) -> Result<TempDir> {
    sweep(root);

    if let Some(cache) = cache {
        match copied(cache, root, binaries, identity) {
            Ok(Some(folder)) => return Ok(folder),
            Ok(None) => {
                tracing::debug!(cache = %cache.display(), "the cache of initdb is busy or out of reach");
            }
            Err(error) => tracing::warn!(%error, "cannot use the cache of initdb"),
        }
    }

    initialized(root, binaries, identity)
}

/// Copies the cluster in the cache; `None` if there is none to copy.
fn copied(
    cache: &Path,
    root: &Path,
    binaries: &Binaries,
    identity: &Identity,
) -> Result<Option<TempDir>> {
    match cached(cache, binaries, identity)? {
        Some(cluster) => copy(&cluster, root, identity).map(Some),
        None => Ok(None),
    }
}

/// Returns the cluster in the cache, and creates it if there is none. Returns `None` while another
/// program creates it, or if the server's user can't reach the cache.
fn cached(cache: &Path, binaries: &Binaries, identity: &Identity) -> Result<Option<PathBuf>> {
    // `initdb` and `cp` run in another working directory.
    let cache = absolute(cache).map_err(Error::io("look at", cache))?;
    fs::create_dir_all(&cache).map_err(Error::io("create", &cache))?;
    if !identity.reaches(&cache) {
        return Ok(None);
    }

    let (uid, _) = identity.owner();
    let cluster = cache.join(format!("{}-{uid}", binaries.version()));
    if is_own_cluster(&cluster, uid) {
        return Ok(Some(cluster));
    }

    let Some(_lock) = Lock::try_acquire(&cache.join(LOCK))? else {
        return Ok(None);
    };

    // The last holder of the lock may have created it.
    if !is_own_cluster(&cluster, uid) {
        sweep(&cache);
        let folder = initialized(&cache, binaries, identity)?;
        fs::rename(folder.path(), &cluster).map_err(Error::io("create", &cluster))?;
        let _moved = folder.keep();
    }

    Ok(Some(cluster))
}

/// Returns `true` for a complete cluster of this user. In a folder that several users share,
/// another one could have put it there.
fn is_own_cluster(folder: &Path, uid: u32) -> bool {
    let is_own = fs::symlink_metadata(folder)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == uid);
    is_own && version(folder).is_some()
}

/// Copies a cluster as the server's user, who can read no files of others.
fn copy(cluster: &Path, root: &Path, identity: &Identity) -> Result<TempDir> {
    let folder = unfinished(root, identity)?;
    let mut command = spawn::command("cp");

    // The dot stands for the contents of the folder. `-P` does not follow links, and `-p` keeps the
    // permissions, without which PostgreSQL does not start.
    command
        .arg("-RPp")
        .arg(cluster.join("."))
        .arg(folder.path())
        .stdin(Stdio::null());

    neutral(&mut command);
    identity.adopt(&mut command, Death::Kill);
    let output = command.output().map_err(Error::io("run", "cp"))?;
    if output.status.success() {
        return Ok(folder);
    }

    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();

    Err(Error::io("copy", cluster)(io::Error::other(complaint)))
}

/// Runs `initdb` in a new folder below `root`.
fn initialized(root: &Path, binaries: &Binaries, identity: &Identity) -> Result<TempDir> {
    let folder = unfinished(root, identity)?;
    run(folder.path(), binaries, identity)?;
    Ok(folder)
}

/// Creates an empty folder of the server's user. Its name is unique, because a killed `initdb` may
/// keep running for a moment.
fn unfinished(root: &Path, identity: &Identity) -> Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(root)
        .map_err(Error::io("create a folder in", root))?;
    identity.claim(folder.path())?;
    Ok(folder)
}

/// Runs `initdb`. `--no-sync` saves seconds, and a development cluster does not need the sync.
fn run(data: &Path, binaries: &Binaries, identity: &Identity) -> Result<()> {
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

/// Removes the leftovers of interrupted programs. Leftovers that can't be removed are harmless.
fn sweep(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
