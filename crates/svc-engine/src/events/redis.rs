//! Redis events, published on its channels.

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use redis::Cmd;

use super::{EventSource, SourceEvent};
use svc_core::{Error, RedisClient, Result};

/// The events of a Redis server, shared by all instances of a service.
///
/// ```
/// use svc::RedisClient;
/// use svc::events::RedisEvents;
/// use svc::prelude::*;
///
/// let redis = RedisClient::new("redis://127.0.0.1:6379")?;
/// let options = AppOptions::new().event_source(RedisEvents::new(redis));
/// # Ok::<(), svc::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RedisEvents(RedisClient);

impl RedisEvents {
    /// Creates an event source from a Redis client.
    pub fn new(client: RedisClient) -> Self {
        Self(client)
    }
}

impl EventSource for RedisEvents {
    fn listen<'a>(
        &'a self,
        channels: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
        let listening = async move {
            let messages = self
                .0
                .listen(channels)
                .await
                .map_err(|error| Error::internal(error.to_string()))?;
            Ok(messages
                .map(|(channel, payload)| SourceEvent::new(channel, payload))
                .boxed())
        };

        listening.boxed()
    }

    fn publish<'a>(&'a self, channel: &'a str, payload: &'a str) -> BoxFuture<'a, Result<()>> {
        let publishing = async move {
            let mut publish = Cmd::new();
            publish.arg("PUBLISH").arg(channel).arg(payload);
            let published = self.0.query::<u64>(&publish).await;
            published
                .map(drop)
                .map_err(|error| Error::internal(error.to_string()))
        };

        publishing.boxed()
    }
}
