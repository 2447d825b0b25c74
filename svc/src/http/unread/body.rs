//! A body whose bytes are counted.

use std::mem::take;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Response, Version};
use hyper::body::{Frame, SizeHint};

use super::client::LargeAnswer;
use super::unread_answers::PendingResponses;

/// A body whose bytes count from the moment they are polled.
pub(in crate::http) struct UnreadBody {
    body: Body,
    answers: Arc<PendingResponses>,
    large: LargeAnswer,
    address: Option<IpAddr>,
    least: usize,
}

impl UnreadBody {
    /// Wraps the body of the response, if it may be large for a client of this HTTP version; the
    /// address is the client's.
    pub(in crate::http) fn wrap(
        response: &mut Response<Body>,
        version: Version,
        address: Option<IpAddr>,
        answers: &Arc<PendingResponses>,
    ) {
        let is_one_of_many = version == Version::HTTP_2;
        let least = if is_one_of_many {
            PendingResponses::MIN_SIZE_OF_MANY
        } else {
            PendingResponses::MIN_SIZE
        };

        let is_small = response
            .body()
            .size_hint()
            .upper()
            .is_some_and(|most| most < least as u64);

        if is_small {
            return;
        }

        let large = LargeAnswer::default();
        response.extensions_mut().insert(large.clone());

        *response.body_mut() = Body::new(Self {
            body: take(response.body_mut()),
            answers: answers.clone(),
            large,
            address,
            least,
        });
    }
}

impl HttpBody for UnreadBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = &mut *self;
        let frame = Pin::new(&mut this.body).poll_frame(cx);
        let count = |bytes: Bytes| match this.large.client() {
            Some(client) if bytes.len() >= this.least => {
                this.answers.count(bytes, client, this.address)
            }
            _ => bytes,
        };

        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(count))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
