//! The line of a request.

use super::notes::{End, Notes, Spent, milliseconds};
use svc_core::request_id::RequestId;
use svc_core::trace::trace_id;

/// Writes the line of a request. Texts chosen by clients are fields, which every log format
/// escapes.
pub(super) fn write(transport: &'static str, notes: &Notes, spent: Spent, end: End) {
    let operation = &notes.operation;
    let trace_id = trace_id();
    tracing::info!(
        target: "svc::request",
        request_id = notes.request_id.as_ref().map(RequestId::as_str),
        trace_id,
        transport,
        method = notes.method,
        path = notes.path.as_deref(),
        status = if let End::Status(status) = end { Some(status) } else { None },
        client_gone = (end == End::Gone).then_some(true),
        kind = operation.kind,
        operation = operation.name,
        operations = Some(notes.operations).filter(|operations| *operations > 0),
        authenticated = operation.kind.map(|_| operation.authenticated),
        user_id = operation.user_id,
        code = notes.code.as_deref(),
        errors = notes.errors,
        statements = spent.statements,
        gate_ms = milliseconds(spent.gate),
        sql_ms = milliseconds(spent.sql),
        duration_ms = milliseconds(spent.total),
        "request"
    );
}
