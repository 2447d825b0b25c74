//! The body of a request over HTTP/1.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::activity::Activity;

/// A body that tells its connection when it is dropped before its end.
#[derive(Debug)]
pub(super) struct RequestBody {
    body: Incoming,
    has_ended: bool,
    activity: Arc<Activity>,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, activity: Arc<Activity>) -> Self {
        Self { body, has_ended: false, activity }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match &frame {
            Poll::Ready(None) => self.has_ended = true,
            Poll::Pending if self.activity.is_body_cut(cx.waker()) => {
                return Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::UnexpectedEof).into())));
            }
            _ => {}
        }
        frame.map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.has_ended && !self.body.is_end_stream() {
            self.activity.leave_unread();
        }
    }
}
