//! The body of an HTTP/1 request.

mod waker;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::activity::Activity;
use crate::http::Recipient as _;
pub(super) use waker::ConnectionWaker;
use waker::HeldWake;

/// A body that returns to its connection if it is dropped before its end.
#[derive(Debug)]
pub(super) struct RequestBody {
    /// `None` once it was returned.
    body: Option<Incoming>,
    has_ended: bool,
    /// Whether reading has failed, so that no more of the body can be read.
    has_failed: bool,
    /// Whether the client sends the body only after `100 Continue`, which reading triggers.
    is_asked_for: bool,
    activity: Arc<Activity>,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, is_asked_for: bool, activity: Arc<Activity>) -> Self {
        Self {
            body: Some(body),
            has_ended: false,
            has_failed: false,
            is_asked_for,
            activity,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let connection = self.activity.id();
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };

        // hyper wakes the connection after each part of a body, to read the next one. After the last
        // part of a body of known length, the connection would be polled for nothing.
        let held = HeldWake::begin(connection);
        let frame = Pin::new(&mut *body).poll_frame(cx);
        if matches!(frame, Poll::Ready(Some(Ok(_)))) && body.is_end_stream() {
            held.forget();
        } else {
            drop(held);
        }

        match &frame {
            Poll::Ready(None) => self.has_ended = true,
            Poll::Ready(Some(Err(_))) => self.has_failed = true,
            // Checked only when nothing is left to read: the end of the stream may be known before
            // the last bytes of the body are read.
            Poll::Pending if self.activity.is_body_cut(cx.waker()) => {
                self.has_failed = true;
                return Poll::Ready(Some(Err(
                    io::Error::from(io::ErrorKind::UnexpectedEof).into()
                )));
            }
            _ => {}
        }

        frame.map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map(Incoming::size_hint)
            .unwrap_or_default()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let Some(body) = self
            .body
            .take()
            .filter(|body| !self.has_ended && !body.is_end_stream())
        {
            // Reading would request a body with `100 Continue` only to discard it.
            let can_be_read = !self.is_asked_for && !self.has_failed;
            self.activity
                .leave_unread(Some(body).filter(|_| can_be_read));
        }
    }
}
