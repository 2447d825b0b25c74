//! Waits for conditions.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{App, Reply, TestDatabase, sessions};

/// The shortest and the longest pause before the next question.
const MIN_PAUSE: Duration = Duration::from_millis(10);
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// The longest that one question may take: some wait for an answer as long as the HTTP client.
const MAX_QUESTION: Duration = Duration::from_secs(900);

/// Asks again and again until the answer is `Ok`, and returns what is in it.
///
/// # Panics
/// With the last error when that takes longer than `limit`, or if a question has no answer at all.
pub async fn within<T>(limit: Duration, mut ask: impl AsyncFnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    let mut last = String::from("no answer");
    loop {
        let answer = timeout(MAX_QUESTION, ask()).await;
        let answer = answer.unwrap_or_else(|_| panic!("a question has no answer, after {last}"));
        match answer {
            Ok(found) => return found,
            Err(error) => {
                assert!(start.elapsed() < limit, "after {limit:?} still {error}");
                last = error;
            }
        }
        // A long wait has longer pauses: the other tests need the processors.
        let pause = (start.elapsed() / 10).clamp(MIN_PAUSE, MAX_PAUSE);
        tokio::time::sleep(pause).await;
    }
}

/// The same, within two minutes: a busy machine may take many seconds for what takes milliseconds.
pub async fn eventually<T>(ask: impl AsyncFnMut() -> Result<T, String>) -> T {
    within(Duration::from_secs(120), ask).await
}

impl App {
    /// Waits until a document has this `data`, and no errors.
    pub async fn until_data(&self, document: &str, expected: &Value) {
        let whole = json!({ "data": expected });
        eventually(async || {
            let reply = self.query(document).await;
            if reply.json() == whole {
                Ok(())
            } else {
                Err(reply.text)
            }
        })
        .await;
    }

    /// Waits until `/ready` says that the service is ready. A probe waits for a second at most, so
    /// that one alone may fail on a busy machine.
    pub async fn until_ready(&self) {
        eventually(async || match self.get("/ready").await {
            ready if ready.status == 200 => Ok(()),
            ready => Err(ready.text),
        })
        .await;
    }

    /// Waits until `/ready` says that the service is not ready and has this text, and returns that
    /// answer.
    pub async fn until_not_ready(&self, part: &str) -> Reply {
        eventually(async || match self.get("/ready").await {
            ready if ready.status == 503 && ready.text.contains(part) => Ok(ready),
            ready => Err(format!("no {part}: {} {}", ready.status, ready.text)),
        })
        .await
    }
}

impl TestDatabase {
    /// Waits until so many statements with this text run in the database.
    pub async fn until_running(&self, part: &str, number: i64) {
        let running = "SELECT count(*) FROM pg_stat_activity \
                       WHERE datname = $1 AND state <> 'idle' AND strpos(query, $2) > 0";
        let mut session = sessions::administrative().await;
        eventually(async || {
            let query = sqlx::query_scalar::<_, i64>(running)
                .bind(self.name())
                .bind(part);
            let found = query.fetch_one(&mut session).await.expect("the statistics");
            if found == number {
                Ok(())
            } else {
                Err(format!("{found} statements with {part}"))
            }
        })
        .await;
        sessions::keep(session);
    }
}
