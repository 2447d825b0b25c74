//! The answers to a subscription.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;

use super::answers::Answers;
use crate::engine::response::Response;
use crate::request_log::SubscriptionRecord;

/// The answers to a subscription, one for each event. Dropping it ends everything behind it.
pub(crate) struct ResponseStream {
    steps: Answers<Step>,
    /// `None` where no line of the log tells of its end.
    record: Option<Box<SubscriptionRecord>>,
}

/// A step of a subscription.
pub(super) enum Step {
    /// It was admitted, and its stream made.
    Begun,
    /// It was not.
    Refused(Response),
    /// The answer to an event.
    Event(Response),
}

impl ResponseStream {
    /// Waits until the stream is made.
    ///
    /// # Errors
    /// The answer to a subscription that is refused.
    pub(super) async fn begin(mut steps: Answers<Step>) -> Result<Self, Response> {
        use futures_util::StreamExt as _;
        match steps.next().await {
            Some(Step::Refused(response)) => Err(response),
            _ => Ok(Self { steps, record: None }),
        }
    }
}

impl ResponseStream {
    /// The same, of whose end the log is told if it wants to know.
    pub(super) fn recorded(self) -> Self {
        Self { record: SubscriptionRecord::begin(), ..self }
    }
}

impl Stream for ResponseStream {
    type Item = Response;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Response>> {
        loop {
            match std::task::ready!(Pin::new(&mut self.steps).poll_next(cx)) {
                Some(Step::Event(response) | Step::Refused(response)) => {
                    if let Some(record) = &mut self.record {
                        record.event(response.answer.field_errors());
                    }
                    return Poll::Ready(Some(response));
                }
                Some(Step::Begun) => {}
                None => return Poll::Ready(None),
            }
        }
    }
}

impl std::fmt::Debug for ResponseStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseStream").finish_non_exhaustive()
    }
}
