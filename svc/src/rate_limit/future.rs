//! The answer of a service whose requests are limited.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use futures_util::future::{BoxFuture, ready};
use pin_project_lite::pin_project;

use super::RateLimitRequest;
use super::limited_request::LimitedRequest;

/// The answer of a service that is limited.
pub(crate) type Answer = Result<Response<Body>, Infallible>;

pin_project! {
    /// The answer to a request. That of the endpoint of GraphQL lies here itself: a place on the heap for each request would
    /// cost as much as a count.
    #[project = Projected]
    pub(crate) enum LimitedFuture<F> {
        /// Nobody counts the request.
        Free { #[pin] answering: F },
        /// The endpoint counts it.
        Inside { #[pin] answering: F, limited: Arc<LimitedRequest> },
        /// It is counted here.
        Counted { answering: BoxFuture<'static, Answer> },
    }
}

impl<F> LimitedFuture<F> {
    /// The answer to a request that needs none of the service.
    pub(super) fn answered(response: Response<Body>) -> Self {
        Self::Counted { answering: Box::pin(ready(Ok(response))) }
    }
}

impl<F: Future<Output = Answer>> Future for LimitedFuture<F> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let (response, limited) = match self.as_mut().project() {
            Projected::Free { answering } => return answering.poll(cx),
            Projected::Counted { answering } => return answering.as_mut().poll(cx),
            Projected::Inside { answering, limited } => {
                let Poll::Ready(Ok(mut response)) = answering.poll(cx) else { return Poll::Pending };
                if limited.told(&mut response) {
                    return Poll::Ready(Ok(response));
                }
                (response, limited.clone())
            }
        };
        let mut answering: BoxFuture<'static, Answer> = Box::pin(counted_late(limited, response));
        let answered = answering.as_mut().poll(cx);
        self.set(Self::Counted { answering });
        answered
    }
}

/// Counts a request to which the endpoint has not come.
async fn counted_late(limited: Arc<LimitedRequest>, response: Response<Body>) -> Answer {
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
