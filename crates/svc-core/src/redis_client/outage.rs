//! Times in which Redis does not answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::cmd;

use super::{CommandError, RedisClient};

/// The pause between two attempts to reach Redis.
const PAUSE: Duration = Duration::from_millis(500);

/// Whether Redis is away. Meanwhile only a task asks it, so that no request waits for it.
#[derive(Debug, Default)]
pub struct Outage(Arc<AtomicBool>);

impl Outage {
    /// Whether Redis is away, as far as is known.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Records a failed command. After one without an answer, Redis is away until it answers within
    /// this time.
    pub fn record(&self, client: &RedisClient, error: &CommandError, bound: Duration) {
        if error.is_answer() || self.0.swap(true, Ordering::Relaxed) {
            return;
        }

        let (away, client) = (Away(Arc::downgrade(&self.0)), client.clone());
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(PAUSE).await;
                let ping = cmd("PING");
                // Connecting may take longer than a request may wait.
                let answer = match client.query::<String>(&ping).await {
                    Ok(_) => client.query_within::<String>(&ping, bound).await,
                    failed => failed,
                };

                // The owner of the state was dropped, so nothing waits for the end of the outage.
                if away.0.strong_count() == 0 {
                    return;
                }
                if answer.map_or_else(|error| error.is_answer(), |_| true) {
                    tracing::info!("Redis is available again");
                    return;
                }
            }
        });
    }
}

/// Ends the outage when it is dropped: when Redis answers, or with the runtime of the task, so that
/// the next failure starts another.
struct Away(Weak<AtomicBool>);

impl Drop for Away {
    fn drop(&mut self) {
        if let Some(is_on) = self.0.upgrade() {
            is_on.store(false, Ordering::Relaxed);
        }
    }
}
