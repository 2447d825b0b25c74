//! Persisted queries in Redis, shared by all instances of a service.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use redis::cmd;
use sha2::{Digest as _, Sha256};

use svc_core::RedisClient;
use svc_core::log_throttle::LogThrottle;
use svc_core::redis_client::{CommandError, Outage};

/// The maximum time that a request waits for Redis.
const PATIENCE: Duration = Duration::from_millis(100);
/// The seconds until a document expires in Redis; clients that still use it send it again.
const TTL: u64 = 86_400;
/// The maximum number of bytes that a process stores in Redis within that time: anyone may persist
/// documents, and Redis holds other data as well.
const MAX_MEMORY: usize = 32 << 20;
/// The time between two log lines about failures of Redis.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// The bytes of a document in addition to its text.
const OVERHEAD: usize = 256;

/// The documents that clients of any instance have persisted.
#[derive(Debug)]
pub(crate) struct SharedPersistedQueries {
    redis: RedisClient,
    room: Mutex<Room>,
    failures: LogThrottle,
    outage: Outage,
}

/// The room for documents in Redis.
#[derive(Debug)]
struct Room {
    /// The start of the current period for counting stored bytes.
    since: Instant,
    left: usize,
}

impl Room {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            left: MAX_MEMORY,
        }
    }

    /// Reserves room for a text; returns whether there was enough.
    fn take(&mut self, text: &str) -> bool {
        if self.since.elapsed() >= Duration::from_secs(TTL) {
            *self = Self::new();
        }

        let left = self.left.checked_sub(text.len() + OVERHEAD);
        if left.is_none() && self.left > 0 {
            tracing::warn!(
                bytes = MAX_MEMORY,
                "clients persist too many documents; this process stores no more in Redis for up to a day"
            );
        }

        // Without room for the rest of the period, the warning above is logged only once.
        self.left = left.unwrap_or(0);

        left.is_some()
    }
}

impl SharedPersistedQueries {
    pub(crate) fn new(redis: &RedisClient) -> Self {
        Self {
            redis: redis.clone(),
            room: Mutex::new(Room::new()),
            failures: LogThrottle::every(BETWEEN_LINES),
            outage: Outage::default(),
        }
    }

    /// The text of a document. Without Redis there is none, and the client sends the text again.
    pub(super) async fn text(&self, hash: &[u8; 32]) -> Option<Arc<str>> {
        if self.outage.is_on() {
            return None;
        }

        let found = self
            .redis
            .query_within::<Option<String>>(cmd("GET").arg(key(hash)), PATIENCE)
            .await;
        let failed = |error: &_| {
            self.note(error, "cannot look up a persisted query in Redis");
            self.outage.record(&self.redis, error, PATIENCE);
        };
        let text = found.inspect_err(failed).ok()??;

        // Other programs can write to the same Redis, and must not replace the document behind a
        // hash that clients trust.
        if <[u8; 32]>::from(Sha256::digest(&text)) == *hash {
            return Some(text.into());
        }

        tracing::warn!("Redis has a different document under the hash of a persisted query");

        None
    }

    /// Stores a document for all instances in the background, while there is room.
    pub(super) fn keep(&self, hash: &[u8; 32], text: &Arc<str>) {
        if !self
            .room
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(text)
        {
            return;
        }

        // The response does not wait for Redis: if the document is missing there, its client is
        // told to send the text again.
        let (client, key, text) = (self.redis.clone(), key(hash), text.clone());
        let failures = self.failures.clone();
        tokio::spawn(async move {
            let kept = client
                .query::<()>(cmd("SET").arg(key).arg(&*text).arg("EX").arg(TTL))
                .await;
            if let Err(error) = kept {
                note(&failures, &error, "cannot store a persisted query in Redis");
            }
        });
    }

    fn note(&self, error: &CommandError, consequence: &'static str) {
        note(&self.failures, error, consequence);
    }
}

/// Logs a failure of Redis, throttled because every request fails while Redis is unavailable.
fn note(failures: &LogThrottle, error: &CommandError, consequence: &'static str) {
    let error = error.to_string();
    failures.log(move |times| tracing::warn!(error, times, "{consequence}"));
}

fn key(hash: &[u8; 32]) -> String {
    format!("svc:persisted:{}", hex::encode(hash))
}
