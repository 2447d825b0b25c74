//! Responses in Redis, shared by instances.
//!
//! Each type has a mark there, which a change replaces. A response is stored with the marks that
//! its types had before it was computed, and is valid as long as they keep these marks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::Entry;
use super::untold::PendingInvalidations;
use svc_core::RedisClient;
use svc_core::log_throttle::LogThrottle;
use svc_core::redis_client::{CommandError, Outage, Script};
use svc_core::schema::{Model, TypeIndex};
use svc_postgres::SchemaVersion;

static FIND: Script = Script::new(include_str!("find.lua"));
static KEEP: Script = Script::new(include_str!("keep.lua"));
static CHANGE: Script = Script::new(include_str!("change.lua"));

/// The maximum time that a request waits for Redis.
const PATIENCE: Duration = Duration::from_millis(100);
/// The time between two log lines about failures of Redis.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// The lifetime of a mark in seconds. It is longer than that of any response, so that no response
/// outlives a change of its type.
const MARK_SECONDS: u32 = 7 * 86_400;

/// The responses of all instances of a service with the same schema.
#[derive(Debug)]
pub struct SharedResponses {
    client: RedisClient,
    /// Distinguishes GraphQL schemas and versions of svc. It is a hash tag too, so that a cluster
    /// stores all of it in one place.
    prefix: String,
    /// The key of each type's mark.
    marks: Box<[String]>,
    /// The version of the database's schema, which is a part of each response's key: an instance
    /// that has not seen a change yet neither finds nor replaces the responses of an instance that
    /// has.
    schema: Arc<SchemaVersion>,
    /// The changes that are not sent to Redis yet. Until they are, nothing of these types is read
    /// from it.
    untold: PendingInvalidations,
    outage: Outage,
    failures: LogThrottle,
}

/// The marks that types had before a response was started.
#[derive(Debug)]
pub(super) struct Marks {
    /// The key of the response, and the keys of the marks.
    keys: Vec<String>,
    all: Vec<u8>,
}

/// The result of a lookup.
pub(super) enum Looked {
    Found {
        body: Bytes,
        time_left: Duration,
    },
    /// With the marks for storing a response, if Redis is available.
    Missing(Option<Marks>),
}

impl SharedResponses {
    pub fn new(client: RedisClient, model: &Model, schema: Arc<SchemaVersion>) -> Self {
        let version = Sha256::new()
            .chain_update(env!("CARGO_PKG_VERSION"))
            .chain_update(&model.sdl)
            .finalize();
        let prefix = format!("svc:{{response:{}}}", hex::encode(&version[..8]));
        let marks = model
            .types
            .iter()
            .map(|def| format!("{prefix}:type:{}", def.name))
            .collect();

        Self {
            client,
            prefix,
            marks,
            schema,
            untold: PendingInvalidations::default(),
            outage: Outage::default(),
            failures: LogThrottle::every(BETWEEN_LINES),
        }
    }

    /// Looks up a response.
    pub(super) async fn look(&self, key: &[u8], types: &[TypeIndex]) -> Looked {
        if self.untold.concern(types) || self.outage.is_on() {
            return Looked::Missing(None);
        }

        let (fingerprint, digest) = (self.schema.fingerprint(), Sha256::digest(key));
        let digest = Sha256::new()
            .chain_update(digest)
            .chain_update(fingerprint.as_bytes())
            .finalize();
        let answer = format!("{}:{}", self.prefix, hex::encode(digest));
        let keys: Vec<_> = std::iter::once(answer)
            .chain(self.marks_of(types))
            .collect();

        // Marks are random, not counted: a mark that expires or is evicted must not come back with
        // the same value.
        let arguments = (Uuid::new_v4().simple().to_string(), MARK_SECONDS);
        let found = self
            .client
            .run::<(Vec<u8>, i64, Vec<u8>)>(&FIND, &keys, &arguments, PATIENCE)
            .await;

        match self.noted(found) {
            None => Looked::Missing(None),
            Some((_, time_left, body)) if time_left > 0 => Looked::Found {
                body: body.into(),
                time_left: Duration::from_millis(u64::try_from(time_left).unwrap_or_default()),
            },
            Some((all, ..)) => Looked::Missing(Some(Marks { keys, all })),
        }
    }

    /// Stores a response in the background.
    pub(super) fn keep(self: &Arc<Self>, Marks { keys, all }: Marks, entry: &Arc<Entry>) {
        let (shared, entry) = (self.clone(), entry.clone());

        // The client does not wait until Redis has the response.
        tokio::spawn(async move {
            let milliseconds = u64::try_from(entry.time_left().as_millis()).unwrap_or_default();
            if milliseconds > 0 {
                let arguments = (all, &entry.body()[..], milliseconds);
                shared.noted(
                    shared
                        .client
                        .run::<i64>(&KEEP, &keys, &arguments, PATIENCE)
                        .await,
                );
            }
        });
    }

    /// Records a change, which is sent to Redis in the background.
    pub(super) fn change(&self, types: &[TypeIndex]) {
        self.untold.add(types);
    }

    /// Sends changes to Redis.
    pub(super) async fn tell(self: Arc<Self>) {
        loop {
            let types = self.untold.take().await;
            let keys: Vec<_> = self.marks_of(&types).collect();
            let arguments = (Uuid::new_v4().simple().to_string(), MARK_SECONDS);

            match self.noted(
                self.client
                    .run::<i64>(&CHANGE, &keys, &arguments, PATIENCE)
                    .await,
            ) {
                Some(_) => self.untold.done(),
                None => self.untold.failed().await,
            }
        }
    }

    fn marks_of(&self, types: &[TypeIndex]) -> impl Iterator<Item = String> {
        types
            .iter()
            .filter_map(|index| self.marks.get(*index))
            .cloned()
    }

    /// Records whether Redis has responded.
    fn noted<T>(&self, answer: Result<T, CommandError>) -> Option<T> {
        answer.inspect_err(|error| self.failed(error)).ok()
    }

    fn failed(&self, error: &CommandError) {
        self.outage.record(&self.client, error, PATIENCE);
        let error = error.to_string();
        self.failures.log(move |times| {
            tracing::warn!(
                error,
                times,
                "Redis is unavailable; cached responses are not shared until it responds"
            );
        });
    }
}
