//! The body of a streamed response.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Bytes, HttpBody};
use futures_util::StreamExt as _;
use hyper::body::Frame;
use serde_json::json;

use super::Place;
use super::stream_type::StreamType;
#[cfg(feature = "auth")]
use crate::http::live::Checked;
use crate::http::live::{Ending, Order};
use crate::http::panic_guard::masked;
use svc_core::ErrorCode;
use svc_engine::graphql::{Response, ResponseStream};
use svc_engine::request::RequestId;

/// The responses sent in a body.
pub(super) enum Source {
    One(Response),
    Many(ResponseStream),
}

/// A body that sends each response when it is ready, and a heartbeat from time to time.
pub(super) struct StreamBody {
    kind: StreamType,
    state: State,
    place: Place,
    /// The identifier of the request: the body is sent outside the handler's scope.
    id: Option<RequestId>,
}

enum State {
    /// Nothing has been sent.
    Opening(Source),
    Open(Source),
    /// The last response was sent.
    Completing,
    Ended,
}

impl StreamBody {
    pub(super) fn new(kind: StreamType, source: Source, place: Place) -> Self {
        place.seat.initialise();
        place.seat.set_operations(1);
        Self {
            kind,
            state: State::Opening(source),
            place,
            id: RequestId::current(),
        }
    }

    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let State::Opening(_) = self.state {
            if let State::Opening(source) = std::mem::replace(&mut self.state, State::Ended) {
                self.state = State::Open(source);
            }
            return Poll::Ready(Some(Bytes::from_static(self.kind.opening())));
        }

        match self.place.seat.poll_order(cx) {
            Poll::Ready(Order::Ping) => {
                // A client cannot reply to it, so having been able to send it counts as a sign of
                // life.
                self.place.seat.hear();
                return Poll::Ready(Some(self.kind.heartbeat().into()));
            }
            Poll::Ready(Order::End(ending)) if !matches!(self.state, State::Ended) => {
                return Poll::Ready(self.break_off(ending));
            }
            // A stream has a single token, and ends with it.
            #[cfg(feature = "auth")]
            Poll::Ready(Order::EndOperations) => {}
            #[cfg(feature = "auth")]
            Poll::Ready(Order::CheckUser) => {
                self.check_user();

                // A ping may have been ordered at the same time, and wakes the task only once.
                cx.waker().wake_by_ref();
            }
            Poll::Ready(Order::End(_)) | Poll::Pending => {}
        }

        #[cfg(feature = "auth")]
        if let Some(ending) = self.poll_user(cx) {
            return Poll::Ready(self.break_off(ending));
        }

        let answer = match &mut self.state {
            State::Open(Source::Many(stream)) => ready!(stream.poll_next_unpin(cx)),
            State::Open(Source::One(response)) => {
                let body = std::mem::take(&mut response.body);
                self.state = State::Completing;
                return Poll::Ready(Some(self.kind.next(&body).into()));
            }
            State::Completing => None,
            State::Opening(_) | State::Ended => return Poll::Ready(None),
        };

        Poll::Ready(Some(match answer {
            Some(response) => self.kind.next(&response.body).into(),
            None => {
                self.state = State::Ended;
                Bytes::from_static(self.kind.complete())
            }
        }))
    }

    #[cfg(feature = "auth")]
    fn check_user(&mut self) {
        if let Some(user) = &mut self.place.user {
            user.check();
        }
    }

    /// Returns the reason to end the stream, once a check has found that its user is not the same.
    /// The permissions of its operation were decided for the user that it began with.
    #[cfg(feature = "auth")]
    fn poll_user(&mut self, cx: &mut Context<'_>) -> Option<Ending> {
        if matches!(self.state, State::Ended) {
            return None;
        }

        let Poll::Ready(checked) = self.place.user.as_mut()?.poll(cx) else {
            return None;
        };

        match checked {
            Checked::Found(identity) => {
                self.place.seat.until_end_of(identity.verified());
                None
            }
            Checked::Unknown => {
                self.place.seat.retry_check();
                None
            }
            Checked::Changed(_) => Some(Ending::UserChanged),
            Checked::Ended(ending) => Some(ending),
        }
    }

    /// Ends the stream, and returns its last bytes.
    fn break_off(&mut self, ending: Ending) -> Option<Bytes> {
        self.state = State::Ended;
        self.last_words(ending).map(Bytes::from)
    }

    /// Returns the next bytes; a panic becomes the last bytes.
    fn poll_caught(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        catch_unwind(AssertUnwindSafe(|| self.poll_bytes(cx))).unwrap_or_else(|panic| {
            self.state = State::Ended;
            Poll::Ready(Some(self.panicked(svc_telemetry::panic::message(&*panic))))
        })
    }

    /// Returns the last bytes of a stream that the service ends. An event stream has none when the
    /// server stops, or the user has to be identified again: its client reopens a stream that was not
    /// completed.
    fn last_words(&self, ending: Ending) -> Option<Vec<u8>> {
        let error = match (ending.token_error(), self.kind) {
            (Some(error), _) => error,
            (None, StreamType::EventStream) => return None,
            (None, StreamType::Multipart) => {
                let message = match ending {
                    Ending::UserTooOld => "the user was identified too long ago; subscribe again",
                    _ => "the service is going away; subscribe again",
                };
                let code = ErrorCode::ServiceUnavailable.as_str();
                json!({ "message": message, "extensions": { "code": code } })
            }
        };

        let errors = json!({ "errors": [error] }).to_string();
        Some(
            [
                self.kind.broken(errors.as_bytes()),
                self.kind.complete().to_vec(),
            ]
            .concat(),
        )
    }

    fn panicked(&self, panic: &str) -> Bytes {
        let errors = json!({ "errors": [masked(panic)] }).to_string();
        [
            self.kind.broken(errors.as_bytes()),
            self.kind.complete().to_vec(),
        ]
        .concat()
        .into()
    }
}

impl HttpBody for StreamBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let id = this.id.clone();
        let bytes = ready!(RequestId::within(id.as_ref(), || this.poll_caught(cx)));
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Ended)
    }
}
