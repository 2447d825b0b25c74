//! The identifiers for finding an error.

use uuid::Uuid;

use crate::request_id::RequestId;
use crate::trace;

/// The identifiers of an error that clients do not see: its own, which is the `errorId` of the
/// response, and the identifiers of its request and its trace.
#[derive(Debug, Clone)]
pub struct ErrorIds {
    pub error: Uuid,
    request: Option<RequestId>,
    trace: Option<String>,
}

impl ErrorIds {
    /// The identifiers of an error in the request of this task. The error is recorded on the
    /// current span.
    pub fn new() -> Self {
        Self::of(Uuid::new_v4())
    }

    /// Returns the identifiers of an error that already has its own.
    pub fn of(error: Uuid) -> Self {
        trace::note_error(error);
        Self {
            error,
            request: RequestId::current(),
            trace: trace::trace_id(),
        }
    }

    pub fn request(&self) -> Option<&str> {
        self.request.as_ref().map(RequestId::as_str)
    }

    pub fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }
}
