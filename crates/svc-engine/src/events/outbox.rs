//! Publishing in the background, for the events of object checks in undone atomic operations.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use svc_core::log_throttle::LogThrottle;

/// The maximum number of events that wait to be published, and the maximum that one operation plans.
pub(crate) const MAX_WAITING: usize = 10_000;

/// The number of tasks that publish at the same time. With PostgreSQL, each uses a connection.
const PUBLISHERS: usize = 2;

/// The time between two log lines about dropped events.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// An event to publish.
#[derive(Debug)]
pub(crate) struct UnpublishedEvent {
    pub(super) channel: String,
    pub(super) payload: String,
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

impl Outbox {
    /// Runs `publishing` of a number of events in a task, which waits while others publish. Returns
    /// whether it runs: there are events, and not too many of them wait.
    pub(super) fn run(
        self: &Arc<Self>,
        events: usize,
        publishing: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        if events == 0 {
            return false;
        }

        // Without a runtime the program is exiting.
        let Ok(runtime) = Handle::try_current() else {
            return false;
        };

        let number = u32::try_from(events).unwrap_or(u32::MAX);
        let Ok(room) = self.room.clone().try_acquire_many_owned(number) else {
            self.dropped.log(|operations| {
                tracing::error!(
                    operations,
                    waiting = MAX_WAITING,
                    "the events of undone atomic operations are dropped: too many wait to be \
                     published"
                );
            });
            return false;
        };

        let outbox = self.clone();
        runtime.spawn(async move {
            // The semaphore is never closed.
            let _turn = outbox.publishers.acquire().await;
            publishing.await;
            drop(room);
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_are_dropped_while_too_many_wait() {
        let outbox = Arc::new(Outbox::default());
        let publish = |number| outbox.run(number, std::future::pending());

        assert!(publish(MAX_WAITING - 1));
        assert!(!publish(2));
        assert!(publish(1));
        assert!(!publish(1));
    }
}
