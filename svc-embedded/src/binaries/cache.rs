//! Copies of PostgreSQL that were fetched earlier.

use std::path::PathBuf;

use super::places;

/// The folders with the programs of every copy.
pub(super) fn copies() -> Vec<PathBuf> {
    places::children(&folder(), "", "bin")
}

/// Returns the folder of the copies, with one folder for each version.
///
/// Root's home is closed to the user that the server may have to run as, so root keeps its copies
/// in the system's cache.
pub(super) fn folder() -> PathBuf {
    base().join("svc").join("postgresql")
}

fn base() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/cache");
    }
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let in_home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(in_home))).unwrap_or_else(std::env::temp_dir)
}
