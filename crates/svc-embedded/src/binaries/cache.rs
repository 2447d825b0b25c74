//! The cache of downloaded PostgreSQL copies.

use std::path::PathBuf;

use super::places;

/// Returns the folders with the programs of each copy.
pub(super) fn copies() -> Vec<PathBuf> {
    places::children(&folder(), "", "bin")
}

/// Returns the folder of the copies, with one folder for each version.
///
/// Root's copies are in the system's cache, because the server may run as a user who can't open
/// root's home.
pub(super) fn folder() -> PathBuf {
    base().join("svc").join("postgresql")
}

fn base() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/cache");
    }

    // The XDG Base Directory specification requires that relative paths are ignored.
    let set = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };

    let in_home = if cfg!(target_os = "macos") {
        "Library/Caches"
    } else {
        ".cache"
    };

    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(in_home)))
        .unwrap_or_else(std::env::temp_dir)
}
