//! The cached responses of a service.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::Entry;
use super::changes::{Changes, Moment};
use super::flights::{Flights, Joined, Lead};
use super::memory::Memory;
use super::news::{CHANNEL, InvalidationBus};
#[cfg(feature = "redis")]
use super::shared::{Looked, Marks, SharedResponses};
use super::untold::PendingInvalidations;
use crate::events::{EventListener, Hub};
use svc_core::schema::{Model, TypeIndex};
use svc_postgres::SchemaVersion;

/// The time after which a write is assumed to have ended if its end was not observed.
const UNSEEN: Duration = Duration::from_secs(1);

/// For each channel, the types whose row changes it announces.
pub type Feeds = HashMap<String, Vec<TypeIndex>>;

/// The cached responses of a service, in memory and, if instances share them, in Redis.
pub struct Responses {
    model: Arc<Model>,
    /// For each type, the types that change with it.
    relatives: Box<[Box<[TypeIndex]>]>,
    changes: Changes,
    pub(super) memory: Memory,
    flights: Flights,
    /// Whether row changes are received. While they are not, or changes of the schema are not
    /// detected, nothing is cached or served from the cache.
    hears: AtomicBool,
    feeds: Feeds,
    /// The changes that are yet to be announced to other instances.
    untold: Arc<PendingInvalidations>,
    /// The id of this instance in its notifications.
    own: Uuid,
    tasks: Mutex<Vec<AbortHandle>>,
    #[cfg(feature = "redis")]
    pub(super) shared: Option<Arc<SharedResponses>>,
}

/// The result of a lookup.
pub(crate) enum Found<'a> {
    /// The cached response.
    Kept(Arc<Entry>),
    /// There is none: the caller computes it, and others wait for it.
    Missing(Box<Fill<'a>>),
    /// There is none that may be cached: the caller computes it for this request alone.
    Unkept,
}

impl Responses {
    /// Creates an empty cache of `capacity` bytes.
    pub fn new(model: Arc<Model>, capacity: u64, feeds: Feeds) -> Self {
        Self {
            relatives: (0..model.types.len())
                .map(|index| relatives(&model, index))
                .collect(),
            changes: Changes::new(model.types.len()),
            model,
            memory: Memory::new(capacity),
            flights: Flights::default(),
            hears: AtomicBool::new(false),
            feeds,
            untold: Arc::default(),
            own: Uuid::new_v4(),
            tasks: Mutex::default(),
            #[cfg(feature = "redis")]
            shared: None,
        }
    }

    /// Shares the responses between instances.
    #[cfg(feature = "redis")]
    pub fn shared_in(mut self, shared: SharedResponses) -> Self {
        self.shared = Some(Arc::new(shared));
        self
    }

    /// Returns the shared version of the schema, for the database that responses are read from.
    pub fn schema_version(&self) -> &Arc<SchemaVersion> {
        self.changes.schema_version()
    }

    /// The channels that announce changes.
    pub fn channels(&self) -> impl Iterator<Item = &str> {
        self.feeds.keys().map(String::as_str).chain([CHANNEL])
    }

    /// Announces changes to other instances from now on, for as long as this value exists.
    pub fn start(&self, hub: &Arc<Hub>) {
        let news = tell(
            self.untold.clone(),
            self.model.clone(),
            self.own,
            Arc::downgrade(hub),
        );

        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.push(tokio::spawn(news).abort_handle());

        #[cfg(feature = "redis")]
        tasks.extend(
            self.shared
                .clone()
                .map(|shared| tokio::spawn(shared.tell()).abort_handle()),
        );
    }

    /// Finds a response that was read from rows of these types. If there is none, one of the
    /// concurrent requests computes it.
    pub(crate) async fn find<'a>(
        &'a self,
        key: Vec<u8>,
        types: &'a [TypeIndex],
        ttl: Duration,
    ) -> Found<'a> {
        if !self.hears.load(Ordering::SeqCst) || !self.changes.are_seen() {
            return Found::Unkept;
        }

        if let Some(entry) = self.in_memory(&key, types) {
            return Found::Kept(entry);
        }

        let key: Arc<[u8]> = key.into();
        loop {
            // Read before the response is computed: any change from now on makes it stale.
            let began = self.changes.now();
            let is_fresh = |began| self.changes.are_none_since(began, types);
            match self.flights.join(&key, began, is_fresh) {
                Joined::Waits(mut landing) => match landing
                    .wait_for(Option::is_some)
                    .await
                    .map(|end| end.clone())
                {
                    Ok(Some(Some(entry))) => return Found::Kept(entry),
                    // The response cannot be cached, so each waiting request computes its own,
                    // instead of one after the other.
                    Ok(_) => return Found::Unkept,
                    // The request that computed it is gone.
                    Err(_) => {}
                },
                Joined::Leads(lead) => {
                    // The previous computation may have ended in the meantime.
                    if let Some(entry) = self.in_memory(&key, types) {
                        lead.land(Some(entry.clone()));
                        return Found::Kept(entry);
                    }

                    let until = Instant::now() + ttl;
                    let fill = Fill {
                        responses: self,
                        lead,
                        types,
                        began,
                        until,
                        #[cfg(feature = "redis")]
                        marks: None,
                    };

                    return self.in_redis(fill).await;
                }
            }
        }
    }

    fn in_memory(&self, key: &[u8], types: &[TypeIndex]) -> Option<Arc<Entry>> {
        let entry = self.memory.get(key)?;
        if entry.until > Instant::now() && self.is_fresh(&entry, types) {
            return Some(entry);
        }
        self.memory.remove(key, &entry);
        None
    }

    /// Looks up a response computed by another instance.
    #[cfg(feature = "redis")]
    async fn in_redis<'a>(&'a self, mut fill: Fill<'a>) -> Found<'a> {
        let Some(shared) = &self.shared else {
            return Found::Missing(Box::new(fill));
        };

        match shared.look(&fill.lead.key, fill.types).await {
            Looked::Found { body, time_left } => {
                // The instance that stored it may have a longer lifetime for it.
                let until = (Instant::now() + time_left).min(fill.until);
                Found::Kept(Fill { until, ..fill }.keep(&body))
            }
            Looked::Missing(marks) => {
                fill.marks = marks;
                Found::Missing(Box::new(fill))
            }
        }
    }

    #[cfg(not(feature = "redis"))]
    async fn in_redis<'a>(&'a self, fill: Fill<'a>) -> Found<'a> {
        Found::Missing(Box::new(fill))
    }

    /// Whether nothing that the response was read from has changed since.
    pub(super) fn is_fresh(&self, entry: &Entry, types: &[TypeIndex]) -> bool {
        self.changes.are_none_since(entry.began, types)
    }

    /// Invalidates responses read from these types, here and in all instances.
    pub(crate) fn invalidate(&self, types: &[TypeIndex]) {
        if !types.is_empty() {
            self.change(types);
            self.untold.add(types);
        }
    }

    /// Invalidates responses once more, after a write whose end was not observed.
    pub(crate) fn invalidate_later(self: &Arc<Self>, types: Vec<TypeIndex>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if types.is_empty() {
            return;
        }

        // The reference is weak, so that the task does not keep a stopped service in memory.
        let responses = Arc::downgrade(self);
        runtime.spawn(async move {
            tokio::time::sleep(UNSEEN).await;
            if let Some(responses) = responses.upgrade() {
                responses.invalidate(&types);
            }
        });
    }

    /// Invalidates responses read from these types.
    fn change(&self, types: &[TypeIndex]) {
        let relatives = types.iter().filter_map(|index| self.relatives.get(*index));
        let mut all: Vec<TypeIndex> = relatives
            .flat_map(|relatives| relatives.iter().copied())
            .collect();
        all.sort_unstable();
        all.dedup();

        // Redis first: a request that starts after the local change must not find the stale
        // response there.
        #[cfg(feature = "redis")]
        if let Some(shared) = &self.shared {
            shared.change(&all);
        }

        self.changes.change(&all);
    }
}

impl EventListener for Responses {
    fn event(&self, channel: &str, payload: &str) {
        if let Some(types) = self.feeds.get(channel) {
            self.change(types);
        }

        if channel == CHANNEL {
            match InvalidationBus::read(payload, &self.model, self.own) {
                InvalidationBus::Own => {}
                InvalidationBus::Types(types) => self.change(&types),
                InvalidationBus::Everything => self.gap(),
            }
        }
    }

    fn gap(&self) {
        #[cfg(feature = "redis")]
        if let Some(shared) = &self.shared {
            shared.change(&(0..self.model.types.len()).collect::<Vec<_>>());
        }
        self.changes.change_everything();
    }

    fn hears(&self, hears: bool) {
        self.hears.store(hears, Ordering::SeqCst);
    }
}

/// Announces changes to the other instances.
async fn tell(untold: Arc<PendingInvalidations>, model: Arc<Model>, own: Uuid, hub: Weak<Hub>) {
    loop {
        let types = untold.take().await;
        let Some(hub) = hub.upgrade() else { return };
        match hub
            .publish(CHANNEL, &InvalidationBus::write(&types, &model, own))
            .await
        {
            Ok(()) => untold.done(),
            Err(error) => {
                let why = "cannot notify other instances of a change; retrying";
                tracing::warn!(error = error.chain(), "{why}");
                untold.failed().await;
            }
        }
    }
}

/// The types that change with a type: itself, its possible types, and all types read from the same
/// views.
fn relatives(model: &Model, index: TypeIndex) -> Box<[TypeIndex]> {
    let mut found: Vec<TypeIndex> = model
        .possible_types(index)
        .iter()
        .copied()
        .chain([index])
        .collect();

    let sources: Vec<_> = found.iter().filter_map(|own| model.source(*own)).collect();
    let is_twin = |other: &TypeIndex| {
        model
            .source(*other)
            .is_some_and(|source| sources.contains(&source))
    };

    found.extend((0..model.types.len()).filter(is_twin));
    found.sort_unstable();
    found.dedup();

    found.into()
}

impl Drop for Responses {
    fn drop(&mut self) {
        self.tasks
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .for_each(AbortHandle::abort);
    }
}

impl fmt::Debug for Responses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Responses are only for the clients they were computed for.
        f.debug_struct("Responses")
            .field("memory", &"…")
            .finish_non_exhaustive()
    }
}

/// The computation of a missing response. If it is dropped without a response, another waiting
/// request takes over.
#[derive(Debug)]
pub(crate) struct Fill<'a> {
    pub(super) responses: &'a Responses,
    pub(super) lead: Lead<'a>,
    pub(super) types: &'a [TypeIndex],
    pub(super) began: Moment,
    pub(super) until: Instant,
    #[cfg(feature = "redis")]
    pub(super) marks: Option<Marks>,
}

impl Fill<'_> {
    /// Delivers a response to all waiting requests, and caches it unless something has changed
    /// since it was started.
    pub(crate) fn keep(self, body: &Bytes) -> Arc<Entry> {
        // Copied, because a body that was written has more capacity than it needs.
        let entry = Arc::new(Entry::new(
            Bytes::copy_from_slice(body),
            self.began,
            self.until,
        ));

        // Cached before the others are notified: a request that arrives after that finds no
        // computation to wait for.
        if self.responses.is_fresh(&entry, self.types) {
            self.responses.memory.insert(&self.lead.key, &entry);
            #[cfg(feature = "redis")]
            if let (Some(shared), Some(marks)) = (&self.responses.shared, self.marks) {
                shared.keep(marks, &entry);
            }
        }

        self.lead.land(Some(entry.clone()));

        entry
    }

    /// Makes the waiting requests compute their own responses, because this one cannot be cached.
    pub(crate) fn give_up(self) {
        self.lead.land(None);
    }
}
