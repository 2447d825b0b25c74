//! The hub: listens once, and delivers events to all subscribers.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use slab::Slab;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use uuid::Uuid;

use super::outbox::{Outbox, UnpublishedEvent};
use super::queue::{Leave, Queue};
use super::source_wait::waiting;
use super::{Accepts, Event, EventListener, EventSource, Events, Feed, NotHeard, SourceEvent};
use svc_core::log_throttle::LogThrottle;
use svc_core::{Error, ErrorCode, Result};
use svc_postgres::SharedReads;

/// The initial and the maximum pause before a lost connection is opened again.
const RETRY: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// The number of events that are delivered before the task yields to others.
const AT_ONCE: u32 = 8;

/// The time between two log lines about dropped events, or about probes that cannot be published.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The time after the loss of the connection for which subscribers wait for it, and the time that a
/// probe waits for its event.
const PATIENCE: Duration = Duration::from_secs(2);

/// The events of a service. Listens to its channels once, and opens no connection if there are
/// none.
pub struct Hub {
    source: Arc<dyn EventSource>,
    channels: Vec<Arc<str>>,
    /// The channel for probes, which the hub sends to itself to check that events arrive.
    probe: String,
    probes: Mutex<HashMap<String, oneshot::Sender<()>>>,
    subscribers: Mutex<HashMap<Arc<str>, Slab<Arc<Queue>>>>,
    /// The part of the service that is notified of each event immediately.
    listener: Option<Arc<dyn EventListener>>,
    /// The time since which the channels are not listened to, or `None` if they are.
    lost: watch::Sender<Option<Instant>>,
    /// The number of received events.
    heard: AtomicU64,
    /// Notified when no event arrives on a connection, which is then abandoned.
    doubted: Arc<Notify>,
    /// The maximum number of events that wait for a subscriber.
    queue: usize,
    /// The throttle of log lines about dropped events.
    dropped: LogThrottle,
    /// The throttle of log lines about probes that cannot be published.
    unpublished: LogThrottle,
    /// The events that are published in the background.
    outbox: Arc<Outbox>,
    task: Mutex<Option<AbortHandle>>,
}

impl Hub {
    /// Creates a hub for these channels. A task listens for as long as the hub exists.
    pub fn new(
        source: Arc<dyn EventSource>,
        channels: Vec<String>,
        queue: usize,
        listener: Option<Arc<dyn EventListener>>,
    ) -> Arc<Self> {
        let hub = Arc::new(Self {
            source,
            channels: channels.into_iter().map(Arc::from).collect(),
            probe: format!("svc_probe_{}", Uuid::new_v4().simple()),
            probes: Mutex::default(),
            subscribers: Mutex::default(),
            listener,
            lost: watch::Sender::new(Some(Instant::now())),
            heard: AtomicU64::new(0),
            doubted: Arc::default(),
            queue,
            dropped: LogThrottle::every(BETWEEN_LINES),
            unpublished: LogThrottle::every(BETWEEN_LINES),
            outbox: Arc::default(),
            task: Mutex::default(),
        });

        if !hub.channels.is_empty() {
            let heard = hub
                .channels
                .iter()
                .map(|channel| &**channel)
                .chain([&*hub.probe])
                .map(str::to_owned)
                .collect();
            let task = tokio::spawn(listen(Arc::downgrade(&hub), hub.source.clone(), heard));
            *locked(&hub.task) = Some(task.abort_handle());
        }

        hub
    }

    /// Publishes an event.
    ///
    /// # Errors
    /// If the source cannot publish it.
    pub(crate) async fn publish(&self, channel: &str, payload: &str) -> Result<()> {
        self.source.publish(channel, payload).await
    }

    /// Checks an event that is published later.
    ///
    /// # Errors
    /// If the source can never publish it.
    pub(crate) fn validate(&self, channel: &str, payload: &str) -> Result<()> {
        self.source.validate(channel, payload)
    }

    /// Publishes events in order, in a task, for a request that waits for it. Errors are in the
    /// log. Returns `None` if there are no events.
    pub(crate) fn publish_all(
        self: &Arc<Self>,
        events: Vec<UnpublishedEvent>,
    ) -> Option<JoinHandle<()>> {
        if events.is_empty() {
            return None;
        }

        // Without a runtime the program is exiting.
        let runtime = Handle::try_current().ok()?;
        let hub = self.clone();
        Some(runtime.spawn(async move { hub.publish_in_order(&events).await }))
    }

    /// Publishes events for which no request waits, in order, in a task. If too many wait, they
    /// are dropped. Errors are in the log.
    pub(crate) fn publish_later(self: &Arc<Self>, events: Vec<UnpublishedEvent>) {
        let hub = self.clone();
        self.outbox.run(events.len(), async move {
            hub.publish_in_order(&events).await;
        });
    }

    async fn publish_in_order(&self, events: &[UnpublishedEvent]) {
        for UnpublishedEvent { channel, payload } in events {
            if let Err(error) = self.publish(channel, payload).await {
                tracing::error!(
                    channel,
                    error = error.chain(),
                    "cannot publish the event of an atomic operation"
                );
            }
        }
    }

    /// Subscribes to the payloads of a channel.
    ///
    /// # Errors
    /// If the service does not have the channel, or the source of the channel is unreachable.
    pub async fn events(self: &Arc<Self>, channel: &str) -> Result<Events> {
        Ok(Events(Some(self.subscribe(channel, None).await?)))
    }

    /// Subscribes to the events of a channel; with `accepts`, only to events about rows that the
    /// subscriber requests.
    ///
    /// # Errors
    /// If the service does not have the channel, or the source of the channel is unreachable.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        channel: &str,
        accepts: Option<Arc<dyn Accepts>>,
    ) -> Result<Feed> {
        let Some(channel) = self.channels.iter().find(|known| ***known == *channel) else {
            let why = format!(
                "nobody listens to `{channel}`; name it in `.event_channels([…])` of the `AppOptions`"
            );
            return Err(Error::internal(why));
        };

        let queue = Arc::new(Queue::new(self.queue, accepts));

        // Added before the wait for the source, so that no event is missed in between.
        let key = locked(&self.subscribers)
            .entry(channel.clone())
            .or_default()
            .insert(queue.clone());
        let feed = Feed::new(self.clone(), channel.clone(), key, queue);
        let mut lost = self.lost.subscribe();

        // After a longer loss, the source is unlikely to return in time, so the request fails
        // immediately.
        let since = (*lost.borrow()).unwrap_or_else(Instant::now);
        let listening = timeout_at(since + PATIENCE, lost.wait_for(Option::is_none));

        match waiting(listening).await {
            Ok(Ok(_)) => {
                // The hub listens from here on, so nothing was missed.
                feed.forget_gaps();
                Ok(feed)
            }
            _ => Err(Error::new(
                ErrorCode::ServiceUnavailable,
                "events cannot be listened to at the moment; try again later",
            )),
        }
    }

    /// Whether there is a channel to listen to.
    pub fn is_listening(&self) -> bool {
        !self.channels.is_empty()
    }

    /// Checks that events arrive, by sending one to itself.
    ///
    /// # Errors
    /// The reason if they do not.
    pub async fn check(&self) -> Result<(), NotHeard> {
        if self.lost.borrow().is_some() {
            return Err(NotHeard::Lost);
        }

        let (told, heard) = oneshot::channel();
        let probe = Probe::new(self, told);
        let proof = async {
            self.publish(&self.probe, &probe.payload)
                .await
                .map_err(NotHeard::Unpublished)?;
            heard.await.map_err(|_| NotHeard::Lost)
        };

        let before = self.heard.load(Ordering::Relaxed);

        match timeout(PATIENCE, proof).await {
            Ok(proof) => proof.inspect_err(|reason| self.log(reason)),
            // Events arrive in order, so the probe waits behind others.
            Err(_) if self.heard.load(Ordering::Relaxed) != before => {
                tracing::debug!("events are heard, and those of the service wait behind others");
                Ok(())
            }
            Err(_) => {
                self.doubted.notify_one();
                Err(NotHeard::Silent)
            }
        }
    }

    /// Logs the error of a check that the response does not show.
    fn log(&self, reason: &NotHeard) {
        if let Some(error) = reason.masked() {
            let error = error.chain();
            self.unpublished.log(move |times| {
                tracing::warn!(
                    error = error.as_str(),
                    times,
                    "the service cannot publish an event to itself, so it is not ready"
                );
            });
        }
    }

    fn deliver(&self, event: SourceEvent) {
        self.heard.fetch_add(1, Ordering::Relaxed);

        match event {
            SourceEvent::Event { channel, payload } if channel == self.probe => {
                // The caller of the check may be gone.
                let _ = locked(&self.probes)
                    .remove(&payload)
                    .map(|told| told.send(()));
            }
            SourceEvent::Event { channel, payload } => {
                // The response cache is first: a client that queries again after the event must not
                // get the response from before it.
                if let Some(listener) = &self.listener {
                    listener.event(&channel, &payload);
                }

                // Delivered without the lock, because row policies are code of the program.
                let queues: Vec<_> = match locked(&self.subscribers).get(channel.as_str()) {
                    Some(of_channel) => of_channel.iter().map(|(_, queue)| queue.clone()).collect(),
                    None => return,
                };

                let event = Arc::new(Event::new(payload));

                // The first subscriber may read before the last one gets the event.
                let _telling = event.row.as_ref().map(|row| row.reads.participant());

                queues
                    .iter()
                    .for_each(|queue| queue.event(&event, &self.dropped));
            }
            SourceEvent::Gap => self.gap(),
        }
    }

    /// Records whether the channels are listened to.
    fn listens(&self, listens: bool) {
        if let Some(listener) = &self.listener {
            listener.hears(listens);
        }
        self.lost.send_replace((!listens).then(Instant::now));
    }

    /// Reports that events may have been missed on any channel.
    fn gap(&self) {
        if let Some(listener) = &self.listener {
            listener.gap();
        }

        let reads = SharedReads::new();
        let _telling = reads.participant();
        locked(&self.subscribers)
            .values()
            .flatten()
            .for_each(|(_, queue)| queue.gap(&reads));
    }
}

/// A probe that a check waits for. A check may be dropped at any time, as when its client closes
/// the connection.
struct Probe<'a> {
    hub: &'a Hub,
    payload: String,
}

impl<'a> Probe<'a> {
    fn new(hub: &'a Hub, told: oneshot::Sender<()>) -> Self {
        let payload = Uuid::new_v4().to_string();
        locked(&hub.probes).insert(payload.clone(), told);
        Self { hub, payload }
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        locked(&self.hub.probes).remove(&self.payload);
    }
}

/// Listens for as long as the hub exists. Logs the loss of the connection once, and its return.
async fn listen(hub: Weak<Hub>, source: Arc<dyn EventSource>, channels: Vec<String>) {
    let (mut pause, mut said) = (RETRY[0], false);
    loop {
        match source.listen(&channels).await {
            Ok(events) => {
                if said {
                    tracing::info!("listening to events again");
                }
                (pause, said) = (RETRY[0], false);
                if !hear(&hub, events).await {
                    return;
                }
                tracing::debug!("the connection that listens to events is lost");
            }
            Err(error) if !said => {
                tracing::warn!(error = error.chain(), "cannot listen to events; retrying");
                said = true;
            }
            Err(_) => {}
        }

        sleep(pause).await;
        pause = (pause * 2).min(RETRY[1]);
    }
}

/// Delivers events until the connection is lost; returns whether the hub still exists.
async fn hear(hub: &Weak<Hub>, mut events: BoxStream<'static, SourceEvent>) -> bool {
    let Some(begun) = hub.upgrade() else {
        return false;
    };

    // The gap comes first, so that a subscriber that waits for the source drops it: its first read
    // is still to come.
    begun.gap();
    begun.listens(true);
    let doubted = begun.doubted.clone();

    // Only a weak reference may remain: the hub ends this task when it is dropped.
    drop(begun);
    let mut at_once = 0;
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = doubted.notified() => None,
        };

        let (Some(event), Some(hub)) = (event, hub.upgrade()) else {
            break;
        };

        hub.deliver(event);
        drop(hub);
        at_once = (at_once + 1) % AT_ONCE;

        if at_once == 0 {
            // Let the subscribers read: a transaction may announce thousands of rows at once.
            tokio::task::yield_now().await;
        }
    }

    hub.upgrade().map(|hub| hub.listens(false)).is_some()
}

/// Nothing under these locks can panic half-way.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Hub {
    fn drop(&mut self) {
        if let Some(task) = locked(&self.task).take() {
            task.abort();
        }
    }
}

impl Leave for Hub {
    fn leave(&self, channel: &Arc<str>, key: usize) {
        let mut subscribers = locked(&self.subscribers);
        let Some(of_channel) = subscribers.get_mut(channel) else {
            return;
        };

        let left = of_channel.try_remove(key);
        if of_channel.is_empty() {
            subscribers.remove(channel);
        }

        drop(subscribers);

        // Dropping its waker may run arbitrary code, which may call this function again.
        drop(left);
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub")
            .field("channels", &self.channels)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;

    use super::*;

    /// A source that never publishes anything.
    struct Stuck;

    impl EventSource for Stuck {
        fn listen<'a>(
            &'a self,
            _: &'a [String],
        ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
            std::future::pending().boxed()
        }

        fn publish<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<()>> {
            std::future::pending().boxed()
        }
    }

    #[tokio::test]
    async fn a_check_that_is_dropped_leaves_no_probe() {
        let hub = Hub::new(Arc::new(Stuck), vec!["post_changed".to_owned()], 1, None);
        hub.listens(true);
        let mut check = Box::pin(hub.check());
        assert!((&mut check).now_or_never().is_none());
        assert_eq!(locked(&hub.probes).len(), 1);

        drop(check);
        assert!(locked(&hub.probes).is_empty());
    }
}
