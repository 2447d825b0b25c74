//! The data recorded for a request.

use std::time::Duration;

use svc_core::request_id::RequestId;

/// The data recorded for a request.
#[derive(Debug, Default, Clone)]
pub(super) struct Notes {
    pub(super) request_id: Option<RequestId>,
    pub(super) method: Option<&'static str>,
    pub(super) path: Option<Box<str>>,
    pub(super) operation: OperationNote,
    /// The number of operations in a batch; 0 if the request is not a batch.
    pub(super) operations: u32,
    /// The code of the error of the whole request.
    pub(super) code: Option<Box<str>>,
    /// The number of errors besides `data`.
    pub(super) errors: usize,
}

/// The operation of a request.
#[derive(Debug, Default, Clone)]
pub struct OperationNote {
    pub name: Option<String>,
    pub kind: Option<&'static str>,
    /// Whether the client is authenticated.
    pub authenticated: bool,
    pub user_id: Option<String>,
}

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Responded with this status.
    Status(u16),
    /// One of several that share a response or a connection, without a separate status.
    Shared,
    /// The client has disconnected, or has cancelled the operation.
    Gone,
}

/// The times of a request, and its statements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spent {
    pub(super) total: Duration,
    pub(super) gate: Duration,
    pub(super) sql: Duration,
    pub(super) statements: u32,
}

/// Returns a time in milliseconds, as lines contain it.
pub(super) fn milliseconds(time: Duration) -> f64 {
    // A `u32` converts to `f64` without loss, and holds 71 minutes of microseconds.
    f64::from(u32::try_from(time.as_micros()).unwrap_or(u32::MAX)) / 1_000.0
}
