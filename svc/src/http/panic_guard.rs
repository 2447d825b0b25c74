//! The outermost guard: a request whose code panics gets a response, and its connection continues.
//!
//! A resolver that panics fails its field. This guard handles the remaining panics: in the coercion
//! of values before execution, and in our own mistakes.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use futures_util::FutureExt as _;
use pin_project_lite::pin_project;
use serde_json::{Value, json};

use super::reply::{MediaType, reply};
use svc_core::ErrorCode;
use svc_engine::graphql::count_refusal;
use svc_engine::request::RequestId;

/// Runs a handler; a panic becomes a response.
pub(super) async fn guarded<R: IntoResponse>(
    media: MediaType,
    handler: impl Future<Output = R>,
) -> Response<Body> {
    match AssertUnwindSafe(handler).catch_unwind().await {
        Ok(response) => response.into_response(),
        Err(panic) => panicked(media, &*panic),
    }
}

pin_project! {
    /// The response to a request with an identifier; a panic becomes a response. The panic is
    /// caught within the scope of the identifier, so that the log has it. It is not an `async`
    /// block, which would store the future twice.
    pub(super) struct Caught<'a, F> {
        id: Option<&'a RequestId>,
        media: MediaType,
        #[pin]
        answering: F,
    }
}

impl<'a, F> Caught<'a, F> {
    /// Answers as JSON after a panic if the client has not chosen a media type.
    pub(super) fn new(id: Option<&'a RequestId>, media: Option<MediaType>, answering: F) -> Self {
        Self {
            id,
            media: media.unwrap_or(MediaType::Json),
            answering,
        }
    }
}

impl<F: Future<Output = Response<Body>>> Future for Caught<'_, F> {
    type Output = Response<Body>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response<Body>> {
        let this = self.project();
        let (media, answering) = (*this.media, this.answering);

        // Stored here, because the results of `catch_unwind` and of the scope would move the
        // response.
        let mut polled = Poll::Pending;
        RequestId::within(*this.id, || {
            let caught = catch_unwind(AssertUnwindSafe(|| polled = answering.poll(cx)));
            if let Err(panic) = caught {
                polled = Poll::Ready(panicked(media, &*panic));
            }
        });

        polled
    }
}

/// Returns the response to a request that panicked: masked, and found in the log by its `errorId`.
#[cold]
pub(super) fn panicked(media: MediaType, panic: &(dyn Any + Send)) -> Response<Body> {
    let body = json!({ "errors": [masked(svc_telemetry::panic::message(panic))] });
    reply(
        StatusCode::INTERNAL_SERVER_ERROR,
        media,
        body.to_string().into_bytes(),
    )
}

/// Returns the error of a request that panicked; only the log gets the message.
pub(super) fn masked(panic: &str) -> Value {
    count_refusal(ErrorCode::InternalServerError.as_str());
    let id = svc_telemetry::panic::report("a request", panic).to_string();
    let extensions = json!({ "code": ErrorCode::InternalServerError.as_str(), "errorId": id });
    json!({ "message": "internal server error", "extensions": extensions })
}
