//! The trait of what brings events.

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::Result;

/// A source of events: what is published on a channel by any process reaches all that listen.
///
/// PostgreSQL is the one that is used unless [`AppOptions::event_source`](crate::AppOptions::event_source) gives another.
pub trait EventSource: Send + Sync + 'static {
    /// Connects, and listens to channels from then on. When the stream ends, the connection is lost: it is asked for another
    /// one after a pause, which gets longer up to a second.
    ///
    /// # Errors
    /// A missing connection; it is asked again.
    fn listen<'a>(&'a self, channels: &'a [String]) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>>;

    /// Publishes an event.
    ///
    /// # Errors
    /// An event that cannot be published.
    fn publish<'a>(&'a self, channel: &'a str, payload: &'a str) -> BoxFuture<'a, Result<()>>;
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
        Self::Event { channel: channel.into(), payload: payload.into() }
    }
}

/// A part of the service that is told of events while they arrive, and so must not wait for anything.
pub(crate) trait EventListener: Send + Sync {
    /// An event has happened on a channel.
    fn event(&self, channel: &str, payload: &str);

    /// Events may have been missed, whatever the channel.
    fn gap(&self);

    /// Whether events are heard from now on.
    fn hears(&self, hears: bool);
}
