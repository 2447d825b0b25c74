//! Waits for conditions.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{App, TestDatabase};

const PAUSE: Duration = Duration::from_millis(10);

/// Asks again and again until the answer is `Ok`, and returns what is in it.
///
/// # Panics
/// With the last error when that takes longer than `limit`.
pub async fn within<T>(limit: Duration, mut ask: impl AsyncFnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match ask().await {
            Ok(found) => return found,
            Err(error) => assert!(start.elapsed() < limit, "after {limit:?} still {error}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same, within half a minute: a busy machine may take seconds for what takes milliseconds.
pub async fn eventually<T>(ask: impl AsyncFnMut() -> Result<T, String>) -> T {
    within(Duration::from_secs(30), ask).await
}

impl App {
    /// Waits until a document has this `data`, and no errors.
    pub async fn until_data(&self, document: &str, expected: &Value) {
        let whole = json!({ "data": expected });
        eventually(async || {
            let reply = self.query(document).await;
            if reply.json() == whole { Ok(()) } else { Err(reply.text) }
        })
        .await;
    }
}

impl TestDatabase {
    /// Waits until so many statements with this text run in the database.
    pub async fn until_running(&self, part: &str, number: i64) {
        let running = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' \
                       AND pid <> pg_backend_pid() AND strpos(query, $1) > 0";
        let pool = self.pool().await;
        eventually(async || {
            let query = sqlx::query_scalar::<_, i64>(running).bind(part);
            let found = query.fetch_one(&pool).await.expect("the statistics");
            if found == number { Ok(()) } else { Err(format!("{found} statements with {part}")) }
        })
        .await;
        pool.close().await;
    }
}
