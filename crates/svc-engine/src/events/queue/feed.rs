//! The stream that takes the events out of one subscriber's queue.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;

use super::{Delivery, Queue};
use svc_core::{Error, ErrorCode, Result};

/// The part of the hub that a leaving subscriber needs.
pub(in crate::events) trait Leave: fmt::Debug + Send + Sync {
    fn leave(&self, channel: &Arc<str>, key: usize);
}

/// The events of a channel for one subscriber, which leaves when this is dropped.
#[derive(Debug)]
pub struct Feed {
    hub: Arc<dyn Leave>,
    channel: Arc<str>,
    key: usize,
    queue: Arc<Queue>,
}

impl Feed {
    pub(in crate::events) fn new(
        hub: Arc<dyn Leave>,
        channel: Arc<str>,
        key: usize,
        queue: Arc<Queue>,
    ) -> Self {
        Self {
            hub,
            channel,
            key,
            queue,
        }
    }

    /// Drops the gaps from before the subscription.
    pub(in crate::events) fn forget_gaps(&self) {
        self.queue
            .waiting()
            .deliveries
            .retain(|delivery| !delivery.is_gap());
    }

    /// Records whether the client has received all responses about rows.
    pub(crate) fn set_reading(&self, is_reading: bool) {
        self.queue.set_reading(is_reading);
    }
}

impl Stream for Feed {
    type Item = Delivery;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Delivery>> {
        let is_of_rows = self.queue.accepts.is_some();
        if let Some(delivery) = self.queue.take() {
            // A subscriber to payloads may do anything with them; one to rows reports its responses
            // with `set_reading`.
            self.queue.set_reading(is_of_rows);
            return Poll::Ready(Some(delivery));
        }

        self.queue.set_reading(true);
        self.queue.waker.register(cx.waker());

        // An event may have arrived before the waker was registered.
        self.queue
            .take()
            .map_or(Poll::Pending, |delivery| Poll::Ready(Some(delivery)))
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.hub.leave(&self.channel, self.key);
    }
}

/// The error of a subscriber that was too slow.
pub(crate) fn too_slow() -> Error {
    let message = "the client takes events more slowly than they come; subscribe again, and read what is there now";
    Error::new(ErrorCode::SubscriptionTooSlow, message)
}

/// The payloads of a channel; created by [`Context::events`](crate::Context::events). The stream
/// ends after an error.
#[derive(Debug)]
pub struct Events(#[doc(hidden)] pub Option<Feed>);

impl Stream for Events {
    type Item = Result<String>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<String>>> {
        loop {
            let Some(feed) = &mut self.0 else {
                return Poll::Ready(None);
            };

            match std::task::ready!(Pin::new(feed).poll_next(cx)) {
                Some(Delivery::Event { event, .. }) => {
                    return Poll::Ready(Some(Ok(event.payload.clone())));
                }
                Some(Delivery::Gap { .. }) => {}
                Some(Delivery::Overflow) => {
                    self.0 = None;
                    return Poll::Ready(Some(Err(too_slow())));
                }
                None => return Poll::Ready(None),
            }
        }
    }
}
