//! The response future of a rate-limited service.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use futures_util::future::{BoxFuture, ready};
use pin_project_lite::pin_project;

use crate::rate_limit::RateLimitRequest;
use crate::rate_limit::limited_request::LimitedRequest;

/// The output of a rate-limited service.
pub(crate) type Answer = Result<Response<Body>, Infallible>;

pin_project! {
    /// The response to a request. The future of the GraphQL endpoint is stored inline: a heap
    /// allocation per request would cost as much as counting.
    #[project = Projected]
    pub(crate) enum LimitedFuture<F> {
        /// The request is not counted.
        Free { #[pin] answering: F },
        /// The endpoint counts the request.
        Inside { #[pin] answering: F, limited: Arc<LimitedRequest> },
        /// The request is counted here.
        Counted { answering: BoxFuture<'static, Answer> },
    }
}

impl<F> LimitedFuture<F> {
    /// A response that does not need the inner service.
    pub(super) fn answered(response: Response<Body>) -> Self {
        Self::Counted {
            answering: Box::pin(ready(Ok(response))),
        }
    }
}

impl<F: Future<Output = Answer>> Future for LimitedFuture<F> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let (response, limited) = match self.as_mut().project() {
            Projected::Free { answering } => return answering.poll(cx),
            Projected::Counted { answering } => return answering.as_mut().poll(cx),
            Projected::Inside { answering, limited } => {
                // `Infallible` has no values, so the only other result is `Pending`.
                let Poll::Ready(Ok(mut response)) = answering.poll(cx) else {
                    return Poll::Pending;
                };
                if limited.told(&mut response) {
                    return Poll::Ready(Ok(response));
                }
                (response, limited.clone())
            }
        };

        let mut answering: BoxFuture<'static, Answer> = Box::pin(counted_late(limited, response));

        // Polled at once: a future that is not polled registers no waker, and the response would
        // never be sent.
        let answered = answering.as_mut().poll(cx);
        self.set(Self::Counted { answering });

        answered
    }
}

/// Counts a request that the endpoint did not count.
async fn counted_late(limited: Arc<LimitedRequest>, response: Response<Body>) -> Answer {
    // The endpoint has consumed the head of the request; a client that is not identified yet counts
    // by its address.
    let headers = HeaderMap::new();
    let request = RateLimitRequest {
        headers: &headers,
        path: limited.path(),
        address: limited.address.counted,
        #[cfg(feature = "auth")]
        user: None,
    };

    let response = match limited.count_late(&request).await {
        Ok(()) => response,
        Err(refusal) => refusal.response(),
    };

    Ok(limited.with_headers(response))
}
