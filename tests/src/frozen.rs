//! Processes that stand still.

use sqlx::PgPool;

use crate::sessions::APPLICATION;

/// Processes that stand still until this is dropped.
#[derive(Debug)]
pub struct Frozen(Vec<i32>);

impl Frozen {
    /// Stops processes.
    pub fn new(pids: Vec<i32>) -> Self {
        assert!(!pids.is_empty(), "there is nothing to stop");
        let frozen = Self(pids);
        frozen.signal("-STOP");
        frozen
    }

    /// Stops the backends of a database, but for the pool's own and that of the `TestDatabase`.
    pub async fn backends(pool: &PgPool) -> Self {
        Self::new(pids(pool).await)
    }

    /// Stops the backends of a database and the process that starts new ones.
    pub async fn server(pool: &PgPool) -> Self {
        let mut pids = pids(pool).await;
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", pids[0])).expect("a process");
        let parent = status
            .lines()
            .find_map(|line| line.strip_prefix("PPid:"))
            .expect("a parent");
        pids.push(parent.trim().parse().expect("a number"));
        Self::new(pids)
    }

    fn signal(&self, signal: &str) {
        let pids = self.0.iter().map(i32::to_string);
        // One that has ended meanwhile is not a failure.
        let _ = std::process::Command::new("kill")
            .arg(signal)
            .args(pids)
            .stderr(std::process::Stdio::null())
            .status();
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.signal("-CONT");
    }
}

async fn pids(pool: &PgPool) -> Vec<i32> {
    let others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() \
                  AND pid <> pg_backend_pid() AND application_name <> $1";
    sqlx::query_scalar(others)
        .bind(APPLICATION)
        .fetch_all(pool)
        .await
        .expect("the processes")
}
