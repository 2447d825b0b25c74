//! The responses to a subscription.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;

use super::answers::Answers;
use crate::graphql::response::Response;
use svc_telemetry::request_log::SubscriptionRecord;

/// The responses to a subscription, one for each event. Dropping the stream ends everything behind
/// it.
pub struct ResponseStream {
    steps: Answers<Step>,
    /// `None` if the end of the subscription is not logged.
    record: Option<Box<SubscriptionRecord>>,
}

/// A step of a subscription.
pub(super) enum Step {
    /// It was admitted, and its stream created.
    Begun,
    /// It was rejected.
    Refused(Response),
    /// The response to an event.
    Event(Response),
}

impl ResponseStream {
    /// Waits until the stream is created.
    ///
    /// # Errors
    /// The response to a rejected subscription.
    pub(super) async fn begin(mut steps: Answers<Step>) -> Result<Self, Response> {
        use futures_util::StreamExt as _;
        match steps.next().await {
            Some(Step::Refused(response)) => Err(response),
            _ => Ok(Self {
                steps,
                record: None,
            }),
        }
    }
}

impl ResponseStream {
    /// Records the subscription, so that its end is logged, if requests are logged.
    pub(super) fn recorded(self) -> Self {
        Self {
            record: SubscriptionRecord::begin(),
            ..self
        }
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
