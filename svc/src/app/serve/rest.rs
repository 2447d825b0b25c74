//! The rest of a body that the application has not read.
//!
//! Nothing can follow it on the connection, so the connection would be closed, and a client that
//! sends its next request at that moment could not determine whether that request was read. A small
//! rest is read; before any other, the response announces that the connection closes (RFC 9112,
//! section 9.6).

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use hyper::body::{Body as _, Incoming};
use tokio::time::{Sleep, sleep};

use super::activity::Activity;

/// The maximum number of bytes that are read, and the maximum time that a response waits for them.
const MAX_DRAINED_BYTES: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);

/// A response that waits for the rest of the body.
pub(super) struct Rest {
    response: Response<Body>,
    body: Incoming,
    /// The number of bytes that may still arrive.
    left: u64,
    /// Set if the rest has not arrived yet.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Rest {
    pub(super) fn new(response: Response<Body>, body: Incoming) -> Self {
        Self {
            response,
            body,
            left: MAX_DRAINED_BYTES,
            timer: None,
        }
    }

    /// Is ready with the response, which closes the connection if the rest is too long or too late.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        activity: &Activity,
    ) -> Poll<Response<Body>> {
        if closes(&self.response) {
            return Poll::Ready(self.take());
        }

        match self.poll_end(cx) {
            Poll::Ready(true) => activity.read_on(),
            Poll::Ready(false) => say_close(&mut self.response),
            Poll::Pending => return Poll::Pending,
        }

        Poll::Ready(self.take())
    }

    /// Is ready with `true` when the body has ended.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        // `Content-Length` shows that a rest is too long before any of it is read.
        while self.body.size_hint().lower() <= self.left {
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(None) => return Poll::Ready(true),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(false),
                Poll::Pending => {
                    let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
                    return timer.as_mut().poll(cx).map(|()| false);
                }
            };

            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            if bytes > self.left {
                break;
            }

            self.left -= bytes;
        }

        Poll::Ready(false)
    }

    fn take(&mut self) -> Response<Body> {
        std::mem::take(&mut self.response)
    }
}

/// Whether a response announces that its connection closes.
fn closes(response: &Response<Body>) -> bool {
    let value = response.headers().get(header::CONNECTION);
    value.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"))
}

/// Announces in the response that the connection closes.
pub(super) fn say_close(response: &mut Response<Body>) {
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
}
