//! The trait of event sources.

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use svc_core::Result;

/// A source of events: an event published on a channel by any process reaches all listeners.
///
/// PostgreSQL is used unless `AppOptions::event_source` sets another source.
pub trait EventSource: Send + Sync + 'static {
    /// Connects, and listens to channels from then on. When the stream ends, the connection is
    /// lost: the service calls this again after a pause, which gets longer up to a second.
    ///
    /// # Errors
    /// If there is no connection; the service tries again.
    fn listen<'a>(
        &'a self,
        channels: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>>;

    /// Publishes an event.
    ///
    /// # Errors
    /// If the event cannot be published.
    fn publish<'a>(&'a self, channel: &'a str, payload: &'a str) -> BoxFuture<'a, Result<()>>;

    /// Checks an event of an operation with `@atomic`, which is published only when the operation
    /// has ended. By default, all events are valid.
    ///
    /// # Errors
    /// If the event can never be published, for example because its payload is too long.
    fn validate(&self, channel: &str, payload: &str) -> Result<()> {
        let _ = (channel, payload);
        Ok(())
    }
}

/// An item of a source's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceEvent {
    /// An event.
    Event {
        /// The channel on which it was published.
        channel: String,
        /// Its payload.
        payload: String,
    },
    /// Events may have been missed here.
    Gap,
}

impl SourceEvent {
    /// An event on a channel.
    pub fn new(channel: impl Into<String>, payload: impl Into<String>) -> Self {
        Self::Event {
            channel: channel.into(),
            payload: payload.into(),
        }
    }
}

/// A part of the service that is notified of events while they arrive, and so must not block.
pub trait EventListener: Send + Sync {
    /// Called for an event on a channel.
    fn event(&self, channel: &str, payload: &str);

    /// Called when events may have been missed on any channel.
    fn gap(&self);

    /// Called with whether events arrive from now on.
    fn hears(&self, hears: bool);
}
