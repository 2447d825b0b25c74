//! Events that are published in the background, after the operations that plan them.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::Hub;
use svc_core::log_throttle::LogThrottle;

/// The maximum number of events that wait to be published, and of those that one operation plans.
pub(crate) const MAX_WAITING: usize = 10_000;

/// The number of tasks that publish at the same time. With PostgreSQL, each uses a connection.
const PUBLISHERS: usize = 2;

/// The time between two log lines about dropped events.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// An event to publish.
#[derive(Debug)]
pub(crate) struct UnpublishedEvent {
    channel: String,
    payload: String,
}

impl UnpublishedEvent {
    pub(crate) fn new(channel: &str, payload: &str) -> Self {
        Self {
            channel: channel.to_owned(),
            payload: payload.to_owned(),
        }
    }
}

/// The bounds of the events that a hub publishes in the background.
#[derive(Debug)]
pub(super) struct Outbox {
    publishers: Semaphore,
    /// A permit for each further event that may wait.
    room: Arc<Semaphore>,
    /// The throttle of log lines about dropped events.
    dropped: LogThrottle,
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            publishers: Semaphore::new(PUBLISHERS),
            room: Arc::new(Semaphore::new(MAX_WAITING)),
            dropped: LogThrottle::every(BETWEEN_LINES),
        }
    }
}

impl Hub {
    /// Publishes events in order, in a task, which waits while others publish. Errors are in the
    /// log. Returns `None` if there are no events, or if they are dropped because too many wait.
    pub(crate) fn publish_later(
        self: &Arc<Self>,
        events: Vec<UnpublishedEvent>,
    ) -> Option<JoinHandle<()>> {
        if events.is_empty() {
            return None;
        }

        // Without a runtime the program is exiting.
        let runtime = Handle::try_current().ok()?;
        let number = u32::try_from(events.len()).unwrap_or(u32::MAX);
        let Ok(room) = self.outbox.room.clone().try_acquire_many_owned(number) else {
            self.outbox.dropped.log(|operations| {
                tracing::error!(
                    operations,
                    waiting = MAX_WAITING,
                    "the events of atomic operations are dropped: too many wait to be published"
                );
            });
            return None;
        };

        let hub = self.clone();
        Some(runtime.spawn(async move {
            // The semaphore is never closed.
            let _turn = hub.outbox.publishers.acquire().await;
            for event in &events {
                hub.publish_or_log(event).await;
            }
            drop(room);
        }))
    }

    async fn publish_or_log(&self, event: &UnpublishedEvent) {
        let UnpublishedEvent { channel, payload } = event;
        if let Err(error) = self.publish(channel, payload).await {
            tracing::error!(
                channel,
                error = error.chain(),
                "cannot publish the event of an atomic operation"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;
    use futures_util::stream::BoxStream;

    use super::*;
    use crate::events::{EventSource, SourceEvent};
    use svc_core::Result;

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
    async fn events_are_dropped_while_too_many_wait() {
        let hub = Hub::new(Arc::new(Stuck), Vec::new(), 1, None);
        let publish = |number: usize| {
            let events = (0..number).map(|_| UnpublishedEvent::new("said", "something"));
            hub.publish_later(events.collect()).is_some()
        };

        assert!(publish(MAX_WAITING - 1));
        assert!(!publish(2));
        assert!(publish(1));
        assert!(!publish(1));
    }
}
