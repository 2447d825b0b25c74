//! Reading a body, with limits on its size and time.

mod pending_bodies;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::StatusCode;
use bytes::BytesMut;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;

use super::reply::Refusal;
use pending_bodies::PendingBody;
pub(crate) use pending_bodies::{PendingBodies, PendingBounds};
use svc_core::ErrorCode;

/// The number of parts of a body that may be short: each costs about as much as a hundred bytes,
/// however short it is.
const MAX_SHORT_PARTS: usize = 4_096;
/// The minimum average size of the parts of a body with more parts, in bytes.
const SHORT_PART: usize = 64;

/// A body that has arrived.
pub(super) struct Arrived {
    pub(super) bytes: Bytes,
    /// Its entry among the pending bodies, where its bytes count until its request runs.
    pub(super) pending: Option<PendingBody>,
}

/// The limits of a body.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub(super) limit: usize,
    pub(super) timeout: Duration,
    pub(super) pending: &'a Arc<PendingBodies>,
    /// The address of the client, if available.
    pub(super) address: Option<IpAddr>,
}

/// The beginning of a body.
pub(super) enum Start {
    /// All of it.
    Whole(Bytes),
    /// Its first part, which may be empty.
    Part(Bytes),
}

/// Returns the whole body, if it arrives in time.
pub(super) async fn read(mut body: Body, bounds: Bounds<'_>) -> Result<Arrived, Refusal> {
    match start(&mut body, bounds.limit)? {
        Start::Whole(bytes) => Ok(Arrived {
            bytes,
            pending: None,
        }),
        Start::Part(first) => read_on(body, first, bounds).await,
    }
}

/// Returns the beginning of a body that has arrived with the head of its request. A short body is
/// read without a timer and without a future.
pub(super) fn start(body: &mut Body, limit: usize) -> Result<Start, Refusal> {
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }

    let first = match body.frame().now_or_never() {
        Some(Some(frame)) => frame
            .map_err(|_| unreadable())?
            .into_data()
            .unwrap_or_default(),
        Some(None) | None => Bytes::new(),
    };

    if body.is_end_stream() && first.len() <= limit {
        Ok(Start::Whole(first))
    } else {
        Ok(Start::Part(first))
    }
}

/// Returns the whole body after its first part, if it arrives in time.
pub(super) async fn read_on(
    body: Body,
    first: Bytes,
    bounds: Bounds<'_>,
) -> Result<Arrived, Refusal> {
    // The client decides when the rest arrives, so the body counts among the bodies of its address,
    // and may be given up for another one.
    let pending = bounds.pending.register(bounds.address);
    let read = tokio::time::timeout(bounds.timeout, rest(body, first, bounds.limit, &pending));

    match pending.arrive(read).await? {
        Ok(bytes) => Ok(Arrived {
            bytes: bytes?,
            pending: Some(pending),
        }),
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            ErrorCode::Timeout,
            "the body took too long to arrive",
        )),
    }
}

/// Reads the body from its first part to its end.
async fn rest(
    mut body: Body,
    first: Bytes,
    limit: usize,
    pending: &PendingBody,
) -> Result<Bytes, Refusal> {
    pending.keep(first.len());
    let mut whole = BytesMut::from(first);
    let mut parts = 0;
    loop {
        if whole.len() > limit {
            return Err(too_large(limit));
        }

        let Some(part) = body.frame().await else {
            return Ok(whole.freeze());
        };

        let Ok(part) = part.map_err(|_| unreadable())?.into_data() else {
            continue;
        };

        parts += 1;
        if parts > MAX_SHORT_PARTS && whole.len() < parts * SHORT_PART {
            return Err(in_short_parts());
        }

        pending.keep(part.len());

        whole.extend_from_slice(&part);
    }
}

/// The parts of a body; an error if too many of them are short.
#[cfg(feature = "upload")]
pub(super) fn parts(
    body: Body,
    pending: &PendingBody,
) -> impl futures_util::Stream<Item = Result<Bytes, axum::BoxError>> + Send {
    use futures_util::StreamExt as _;

    let (mut count, mut size) = (0, 0);
    body.into_data_stream().map(move |part| {
        let part = part?;
        (count, size) = (count + 1, size + part.len());
        pending.pass(part.len());
        match count > MAX_SHORT_PARTS && size < count * SHORT_PART {
            true => Err("the body comes in too many short parts".into()),
            false => Ok(part),
        }
    })
}

/// The minimum size of a body, from its head.
#[cfg(feature = "upload")]
pub(super) fn at_least(body: &Body) -> u64 {
    body.size_hint().lower()
}

fn unreadable() -> Refusal {
    Refusal::new(
        StatusCode::BAD_REQUEST,
        ErrorCode::BadRequest,
        "the body could not be read",
    )
}

#[cold]
fn in_short_parts() -> Refusal {
    Refusal::new(
        StatusCode::BAD_REQUEST,
        ErrorCode::BadRequest,
        "the body comes in too many short parts; send larger ones",
    )
}

#[cold]
fn too_large(limit: usize) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::QueryTooLarge,
        format!("the body is larger than {limit} bytes"),
    )
}
