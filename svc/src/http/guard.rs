//! The outermost guard: a request whose code panics is answered, and its connection goes on.
//!
//! A resolver that panics fails its field. Here is what remains: values that are coerced before anything runs, and our
//! own mistakes.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use futures_util::FutureExt as _;
use serde_json::json;
use uuid::Uuid;

use super::negotiate::MediaType;
use super::reply::reply;
use crate::ErrorCode;

/// Runs a handler; a panic becomes an answer.
pub(super) async fn guarded<R: IntoResponse>(media: MediaType, handler: impl Future<Output = R>) -> Response<Body> {
    match AssertUnwindSafe(handler).catch_unwind().await {
        Ok(response) => response.into_response(),
        Err(panic) => panicked(media, &*panic),
    }
}

/// The answer to a request that panicked: masked, and found in the log by its `errorId`.
pub(super) fn panicked(media: MediaType, panic: &(dyn Any + Send)) -> Response<Body> {
    let id = Uuid::new_v4().to_string();
    tracing::error!(error_id = id, panic = crate::panic::message(panic), "a request panicked");
    let extensions = json!({ "code": ErrorCode::InternalServerError.as_str(), "errorId": id });
    let body = json!({ "errors": [{ "message": "internal server error", "extensions": extensions }] });
    reply(StatusCode::INTERNAL_SERVER_ERROR, media, body.to_string().into_bytes())
}
