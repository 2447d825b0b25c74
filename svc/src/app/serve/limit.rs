//! The maximum number of connections.

/// File descriptors reserved for the database, the log and the like.
const FREE_FILES: u64 = 64;

/// Returns the maximum number of connections: as configured, or fewer if the process may not open
/// as many files. Without free files, connections to the database could not be opened either.
pub(in crate::app) fn max_connections(configured: u32) -> usize {
    let most = usize::try_from(configured.max(1)).unwrap_or(usize::MAX);
    #[cfg(unix)]
    if let Some(files) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let files = files.saturating_sub(FREE_FILES).max(files / 2).max(1);
        return most.min(usize::try_from(files).unwrap_or(usize::MAX));
    }
    most
}
