//! The most connections, and how often it is logged that there are so many.

use std::time::{Duration, Instant};

/// Files that are kept free for the database, the log and the like.
const FREE_FILES: u64 = 64;

/// The most connections: as configured, or fewer where the process may not open so many files. Without files left,
/// connections to the database could not be opened either.
pub(super) fn max_connections(configured: u32) -> usize {
    let most = usize::try_from(configured.max(1)).unwrap_or(usize::MAX);
    #[cfg(unix)]
    if let Some(files) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let files = files.saturating_sub(FREE_FILES).max(files / 2).max(1);
        return most.min(usize::try_from(files).unwrap_or(usize::MAX));
    }
    most
}

/// A limit on how often something is logged.
#[derive(Debug, Default)]
pub(super) struct LogThrottle {
    logged: Option<Instant>,
    times: u64,
}

impl LogThrottle {
    /// The least time between two lines of the log.
    const EVERY: Duration = Duration::from_secs(60);

    /// It has happened; how often since it was logged last, when it is time to log it again.
    pub(super) fn occurred(&mut self) -> Option<u64> {
        self.times += 1;
        let now = Instant::now();
        if self.logged.is_some_and(|last| now.saturating_duration_since(last) < Self::EVERY) {
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.times))
    }
}
