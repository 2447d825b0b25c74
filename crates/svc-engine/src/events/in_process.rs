//! Events that stay in the process.

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{EventSource, SourceEvent};
use svc_core::Result;

/// The events that wait for a process that is too busy to receive them; the loss of further events
/// is a gap.
const WAITING: usize = 4_096;

/// Events that stay in the process, for a service with a single instance, and for tests.
#[derive(Debug, Clone)]
pub struct InProcessEvents(broadcast::Sender<SourceEvent>);

impl InProcessEvents {
    /// Creates a source without events.
    pub fn new() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }
}

impl Default for InProcessEvents {
    fn default() -> Self {
        Self::new()
    }
}

impl EventSource for InProcessEvents {
    fn listen<'a>(
        &'a self,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
        let events = stream::unfold(self.0.subscribe(), |mut events| async move {
            match events.recv().await {
                Ok(event) => Some((event, events)),
                Err(RecvError::Lagged(_)) => Some((SourceEvent::Gap, events)),
                Err(RecvError::Closed) => None,
            }
        });
        std::future::ready(Ok(events.boxed())).boxed()
    }

    fn publish<'a>(&'a self, channel: &'a str, payload: &'a str) -> BoxFuture<'a, Result<()>> {
        // Sending fails only if there are no listeners.
        let _ = self.0.send(SourceEvent::new(channel, payload));
        std::future::ready(Ok(())).boxed()
    }
}
