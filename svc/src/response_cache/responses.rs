//! The answers that a service keeps.

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
use super::news::{CHANNEL, News};
#[cfg(feature = "redis")]
use super::shared::{Looked, Marks, SharedResponses};
use super::untold::Untold;
use crate::events::{EventListener, Hub};
use crate::postgres::SchemaVersion;
use crate::schema::{Model, TypeIndex};

/// The types whose rows the events of a channel tell of.
pub(crate) type Feeds = HashMap<String, Vec<TypeIndex>>;

/// The answers that a service keeps, in memory and, where instances share them, in Redis.
pub(crate) struct Responses {
    model: Arc<Model>,
    /// Of each type, those that change with it.
    relatives: Box<[Box<[TypeIndex]>]>,
    changes: Changes,
    pub(super) memory: Memory,
    flights: Flights,
    /// Whether changes of rows are heard of. Nothing is kept or served while they are not, nor while those of the schema
    /// are not seen.
    hears: AtomicBool,
    feeds: Feeds,
    /// The changes that other instances are to be told of.
    untold: Arc<Untold>,
    /// The instance, as its news name it.
    own: Uuid,
    tasks: Mutex<Vec<AbortHandle>>,
    #[cfg(feature = "redis")]
    pub(super) shared: Option<Arc<SharedResponses>>,
}

/// The end of a search.
pub(crate) enum Found<'a> {
    /// The answer.
    Kept(Arc<Entry>),
    /// None: it is to be made, and others wait for it.
    Missing(Box<Fill<'a>>),
    /// None that may be kept: it is to be made for this request alone.
    Unkept,
}

impl Responses {
    /// An empty place for `capacity` bytes.
    pub(crate) fn new(model: Arc<Model>, capacity: u64, feeds: Feeds) -> Self {
        Self {
            relatives: (0..model.types.len()).map(|index| relatives(&model, index)).collect(),
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

    /// The same, which instances share.
    #[cfg(feature = "redis")]
    pub(crate) fn shared_in(mut self, shared: SharedResponses) -> Self {
        self.shared = Some(Arc::new(shared));
        self
    }

    /// Returns the place of the schema's version, for the database that answers are read from.
    pub(crate) fn schema_version(&self) -> &Arc<SchemaVersion> {
        self.changes.schema_version()
    }

    /// The channels on which changes are told.
    pub(crate) fn channels(&self) -> impl Iterator<Item = &str> {
        self.feeds.keys().map(String::as_str).chain([CHANNEL])
    }

    /// Tells others of changes from now on, for as long as the value lives.
    pub(crate) fn start(&self, hub: &Arc<Hub>) {
        let news = tell(self.untold.clone(), self.model.clone(), self.own, Arc::downgrade(hub));
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.push(tokio::spawn(news).abort_handle());
        #[cfg(feature = "redis")]
        tasks.extend(self.shared.clone().map(|shared| tokio::spawn(shared.tell()).abort_handle()));
    }

    /// Finds an answer that was read from rows of these types, or has it made: by one of those who ask for it at once.
    pub(crate) async fn find<'a>(&'a self, key: Vec<u8>, types: &'a [TypeIndex], ttl: Duration) -> Found<'a> {
        if !self.hears.load(Ordering::SeqCst) || !self.changes.are_seen() {
            return Found::Unkept;
        }
        if let Some(entry) = self.in_memory(&key, types) {
            return Found::Kept(entry);
        }
        let key: Arc<[u8]> = key.into();
        loop {
            let began = self.changes.now();
            let is_fresh = |began| self.changes.are_none_since(began, types);
            match self.flights.join(&key, began, is_fresh) {
                Joined::Waits(mut landing) => match landing.wait_for(Option::is_some).await.map(|end| end.clone()) {
                    Ok(Some(Some(entry))) => return Found::Kept(entry),
                    Ok(_) => return Found::Unkept,
                    // Whoever made it is gone.
                    Err(_) => {}
                },
                Joined::Leads(lead) => {
                    // The last one may have landed since.
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

    /// Looks for an answer that another instance has made.
    #[cfg(feature = "redis")]
    async fn in_redis<'a>(&'a self, mut fill: Fill<'a>) -> Found<'a> {
        let Some(shared) = &self.shared else { return Found::Missing(Box::new(fill)) };
        match shared.look(&fill.lead.key, fill.types).await {
            Looked::Found { body, time_left } => {
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

    /// Whether nothing that it was read from has changed since.
    pub(super) fn is_fresh(&self, entry: &Entry, types: &[TypeIndex]) -> bool {
        self.changes.are_none_since(entry.began, types)
    }

    /// Forgets what was read of these types, here and in all instances.
    pub(crate) fn invalidate(&self, types: &[TypeIndex]) {
        if !types.is_empty() {
            self.change(types);
            self.untold.add(types);
        }
    }

    /// Forgets what was read of these types.
    fn change(&self, types: &[TypeIndex]) {
        let relatives = types.iter().filter_map(|index| self.relatives.get(*index));
        let mut all: Vec<TypeIndex> = relatives.flat_map(|relatives| relatives.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        // First, so that whoever finds nothing changed here does not find the old answer there.
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
            match News::read(payload, &self.model, self.own) {
                News::Own => {}
                News::Types(types) => self.change(&types),
                News::Everything => self.gap(),
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

/// Tells the other instances of changes.
async fn tell(untold: Arc<Untold>, model: Arc<Model>, own: Uuid, hub: Weak<Hub>) {
    loop {
        let types = untold.take().await;
        let Some(hub) = hub.upgrade() else { return };
        match hub.publish(CHANNEL, &News::write(&types, &model, own)).await {
            Ok(()) => untold.done(),
            Err(error) => {
                let why = "other instances cannot be told of a change; trying again until they can";
                tracing::warn!(error = error.chain(), "{why}");
                untold.failed().await;
            }
        }
    }
}

/// The types that change with a type: itself, what it may be, and what is read from the same views.
fn relatives(model: &Model, index: TypeIndex) -> Box<[TypeIndex]> {
    let mut found: Vec<TypeIndex> = model.possible_types(index).iter().copied().chain([index]).collect();
    let sources: Vec<_> = found.iter().filter_map(|own| model.source(*own)).collect();
    let is_twin = |other: &TypeIndex| model.source(*other).is_some_and(|source| sources.contains(&source));
    found.extend((0..model.types.len()).filter(is_twin));
    found.sort_unstable();
    found.dedup();
    found.into()
}

impl Drop for Responses {
    fn drop(&mut self) {
        self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner).iter().for_each(AbortHandle::abort);
    }
}

impl fmt::Debug for Responses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Answers are for whoever they were made for.
        f.debug_struct("Responses").field("memory", &"…").finish_non_exhaustive()
    }
}

/// The making of an answer that is not known yet. When it is dropped without an answer, another one who waits for it
/// makes it.
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
    /// Gives an answer to all who wait for it, and keeps it unless something has changed since it was begun.
    pub(crate) fn keep(self, body: &Bytes) -> Arc<Entry> {
        // A body that was written has more room than it needs.
        let entry = Arc::new(Entry::new(Bytes::copy_from_slice(body), self.began, self.until));
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

    /// Sends those who wait to make their own answers, as this one cannot be kept.
    pub(crate) fn give_up(self) {
        self.lead.land(None);
    }
}
