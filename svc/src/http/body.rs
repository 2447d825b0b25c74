//! Reading a body: bounded in size and time.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::StatusCode;
use futures_util::FutureExt as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::reply::Refusal;
use crate::ErrorCode;

/// The whole body, if it arrives in time.
pub(super) async fn read(mut body: Body, limit: usize, timeout: Duration) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    // A short body arrives with the head, and is read without a timer.
    let first = match body.frame().now_or_never() {
        Some(Some(frame)) => frame.map_err(|_| unreadable())?.into_data().unwrap_or_default(),
        Some(None) | None => Bytes::new(),
    };
    if body.is_end_stream() && first.len() <= limit {
        return Ok(first);
    }
    let rest = Limited::new(body, limit.checked_sub(first.len()).ok_or_else(|| too_large(limit))?);
    match tokio::time::timeout(timeout, rest.collect()).await {
        Ok(Ok(rest)) if first.is_empty() => Ok(rest.to_bytes()),
        Ok(Ok(rest)) => Ok([first, rest.to_bytes()].concat().into()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Ok(Err(_)) => Err(unreadable()),
        Err(_) => {
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, "the body took too long to arrive"))
        }
    }
}

fn unreadable() -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::BadRequest, "the body could not be read")
}

fn too_large(limit: usize) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::QueryTooLarge,
        format!("the body is larger than {limit} bytes"),
    )
}
