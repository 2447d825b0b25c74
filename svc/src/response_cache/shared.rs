//! Answers in Redis, which instances share.
//!
//! Each type has a mark there, which a change replaces. An answer is kept with the marks that its types had before it was
//! made, and counts for as long as they have them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::Entry;
use super::untold::Untold;
use crate::RedisClient;
use crate::postgres::SchemaVersion;
use crate::redis_client::{CommandError, Script};
use crate::schema::{Model, TypeIndex};

static FIND: Script = Script::new(include_str!("find.lua"));
static KEEP: Script = Script::new(include_str!("keep.lua"));
static CHANGE: Script = Script::new(include_str!("change.lua"));

/// The longest that a request waits for Redis.
const PATIENCE: Duration = Duration::from_millis(100);
/// The time after a failure in which no request waits for it.
const PAUSE: Duration = Duration::from_millis(500);
/// The seconds for which a mark stays. It is longer than any answer is kept, so that none outlives a change of its type.
const MARK_SECONDS: u32 = 7 * 86_400;

/// The answers of all instances of a service with the same schema.
#[derive(Debug)]
pub(crate) struct SharedResponses {
    client: RedisClient,
    /// Tells GraphQL schemas and versions of svc apart. It is a hash tag too, so that a cluster keeps all of it in one place.
    prefix: String,
    /// The key of each type's mark.
    marks: Box<[String]>,
    /// The version of the database's schema, which is a part of each answer's key: an instance that has not seen a change
    /// yet neither finds nor replaces the answers of one that has.
    schema: Arc<SchemaVersion>,
    /// The changes that Redis does not know yet. Nothing of these types is read there until it does.
    untold: Untold,
    began: Instant,
    /// The time from which on Redis is asked again, in milliseconds since `began`.
    retry_at: AtomicU64,
}

/// The marks that types had before an answer was begun.
#[derive(Debug)]
pub(super) struct Marks {
    /// The answer's key, and those of the marks.
    keys: Vec<String>,
    all: Vec<u8>,
}

/// The end of a search.
pub(super) enum Looked {
    Found {
        body: Bytes,
        time_left: Duration,
    },
    /// With the marks under which an answer can be kept, if Redis answers.
    Missing(Option<Marks>),
}

impl SharedResponses {
    pub(crate) fn new(client: RedisClient, model: &Model, schema: Arc<SchemaVersion>) -> Self {
        let version = Sha256::new().chain_update(env!("CARGO_PKG_VERSION")).chain_update(&model.sdl).finalize();
        let prefix = format!("svc:{{response:{}}}", hex::encode(&version[..8]));
        let marks = model.types.iter().map(|def| format!("{prefix}:type:{}", def.name)).collect();
        let (untold, began, retry_at) = (Untold::default(), Instant::now(), AtomicU64::new(0));
        Self { client, prefix, marks, schema, untold, began, retry_at }
    }

    /// Looks for an answer.
    pub(super) async fn look(&self, key: &[u8], types: &[TypeIndex]) -> Looked {
        if self.untold.concern(types) || self.now() < self.retry_at.load(Ordering::Relaxed) {
            return Looked::Missing(None);
        }
        let (fingerprint, digest) = (self.schema.fingerprint(), Sha256::digest(key));
        let digest = Sha256::new().chain_update(digest).chain_update(fingerprint.as_bytes()).finalize();
        let answer = format!("{}:{}", self.prefix, hex::encode(digest));
        let keys: Vec<_> = std::iter::once(answer).chain(self.marks_of(types)).collect();
        let arguments = (Uuid::new_v4().simple().to_string(), MARK_SECONDS);
        let found = self.client.run::<(Vec<u8>, i64, Vec<u8>)>(&FIND, &keys, &arguments, PATIENCE).await;
        match self.noted(found) {
            None => Looked::Missing(None),
            Some((_, time_left, body)) if time_left > 0 => Looked::Found {
                body: body.into(),
                time_left: Duration::from_millis(u64::try_from(time_left).unwrap_or_default()),
            },
            Some((all, ..)) => Looked::Missing(Some(Marks { keys, all })),
        }
    }

    /// Keeps an answer, without anybody waiting for it.
    pub(super) fn keep(self: &Arc<Self>, Marks { keys, all }: Marks, entry: &Arc<Entry>) {
        let (shared, entry) = (self.clone(), entry.clone());
        tokio::spawn(async move {
            let milliseconds = u64::try_from(entry.time_left().as_millis()).unwrap_or_default();
            if milliseconds > 0 {
                let arguments = (all, &entry.body()[..], milliseconds);
                shared.noted(shared.client.run::<i64>(&KEEP, &keys, &arguments, PATIENCE).await);
            }
        });
    }

    /// Notes a change, of which Redis is told by itself.
    pub(super) fn change(&self, types: &[TypeIndex]) {
        self.untold.add(types);
    }

    /// Tells Redis of changes.
    pub(super) async fn tell(self: Arc<Self>) {
        loop {
            let types = self.untold.take().await;
            let keys: Vec<_> = self.marks_of(&types).collect();
            let arguments = (Uuid::new_v4().simple().to_string(), MARK_SECONDS);
            match self.noted(self.client.run::<i64>(&CHANGE, &keys, &arguments, PATIENCE).await) {
                Some(_) => self.untold.done(),
                None => self.untold.failed().await,
            }
        }
    }

    fn marks_of(&self, types: &[TypeIndex]) -> impl Iterator<Item = String> {
        types.iter().filter_map(|index| self.marks.get(*index)).cloned()
    }

    /// Notes whether Redis has answered.
    fn noted<T>(&self, answer: Result<T, CommandError>) -> Option<T> {
        match answer {
            Ok(answer) => {
                if self.retry_at.swap(0, Ordering::Relaxed) != 0 {
                    tracing::info!("answers are shared in Redis again");
                }
                Some(answer)
            }
            Err(error) => {
                let retry_at = self.now() + u64::try_from(PAUSE.as_millis()).unwrap_or_default();
                if self.retry_at.swap(retry_at, Ordering::Relaxed) == 0 {
                    tracing::warn!(%error, "answers are not shared until Redis answers");
                }
                None
            }
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
