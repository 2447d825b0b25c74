//! Notes of a request.

use std::time::Duration;

use crate::request_id::RequestId;

/// The notes of a request.
#[derive(Debug, Default, Clone)]
pub(super) struct Notes {
    pub(super) request_id: Option<RequestId>,
    pub(super) method: Option<&'static str>,
    pub(super) path: Option<Box<str>>,
    pub(super) operation: OperationNote,
    /// The number of operations of a batch; 0 for what is none.
    pub(super) operations: u32,
    /// The code of the error that is the whole request's.
    pub(super) code: Option<Box<str>>,
    /// The errors beside `data`.
    pub(super) errors: usize,
}

/// The operation of a request.
#[derive(Debug, Default, Clone)]
pub(crate) struct OperationNote {
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<&'static str>,
    /// Whether it is known who asks.
    pub(crate) authenticated: bool,
    pub(crate) user_id: Option<String>,
}

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It is answered with this status.
    Status(u16),
    /// It is one of several that share an answer or a connection, and has no status of its own.
    Shared,
    /// Its client has gone, or wants no answer any more.
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

/// A time as lines have it.
pub(super) fn milliseconds(time: Duration) -> f64 {
    f64::from(u32::try_from(time.as_micros()).unwrap_or(u32::MAX)) / 1_000.0
}
