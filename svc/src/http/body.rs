//! Reading a body: bounded in size and time.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::reply::Refusal;
use crate::ErrorCode;

/// How long a client may take to send a body.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The whole body.
pub(super) async fn read(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    let declared = axum::body::HttpBody::size_hint(&body).lower();
    if declared > limit as u64 {
        return Err(too_large(limit));
    }
    match tokio::time::timeout(TIMEOUT, Limited::new(body, limit).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Ok(Err(_)) => Err(Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::BadRequest, "the body could not be read")),
        Err(_) => {
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, "the body took too long to arrive"))
        }
    }
}

fn too_large(limit: usize) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::QueryTooLarge,
        format!("the body is larger than {limit} bytes"),
    )
}
