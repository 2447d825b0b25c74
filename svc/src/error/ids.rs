//! The identifiers by which an error is found.

use uuid::Uuid;

use crate::request_id::RequestId;
use crate::trace;

/// The identifiers of an error that clients do not see: its own, which is the `errorId` of the answer, and those of the
/// request and the trace in which it happened.
#[derive(Debug, Clone)]
pub(crate) struct ErrorIds {
    pub(crate) error: Uuid,
    request: Option<RequestId>,
    trace: Option<String>,
}

impl ErrorIds {
    /// The identifiers of an error that happens in the request of this task. The current span is told of it.
    pub(crate) fn new() -> Self {
        Self::of(Uuid::new_v4())
    }

    /// The same of an error that has one already.
    pub(crate) fn of(error: Uuid) -> Self {
        trace::note_error(error);
        Self { error, request: RequestId::current(), trace: trace::trace_id() }
    }

    pub(crate) fn request(&self) -> Option<&str> {
        self.request.as_ref().map(RequestId::as_str)
    }

    pub(crate) fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }
}
