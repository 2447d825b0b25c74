//! Panics of the program's code: caught for the field that fails, and at the latest for the
//! request.

use std::any::Any;

use uuid::Uuid;

use crate::error_tracker::{self, Facts};
use crate::security_log::{SecurityEvent, SecurityEventType, record};
use svc_core::Error;
use svc_core::error::{ErrorIds, Origin, raised_by_panic};

/// The maximum length of a message in the log, in characters.
const TEXT: usize = 2_000;

/// Returns the message of a panic, for the log.
pub fn message(panic: &(dyn Any + Send)) -> &str {
    // The payload of `panic!` is a `&str` for a literal, and a `String` with arguments.
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Returns the error for code that has panicked.
pub fn error(what: &str, panic: &(dyn Any + Send)) -> Error {
    let message = message(panic);
    let raised = raised_by_panic(message);
    Error::internal(format!("{what} panicked: {message}"))
        .with_origin(Origin::Panic)
        .raised_at(raised)
}

/// Reports a panic outside of fields to the log, the security log and the error tracker. Returns
/// its `errorId`.
pub fn report(what: &str, message: &str) -> Uuid {
    let (ids, raised) = (ErrorIds::new(), raised_by_panic(message));
    let message = message
        .char_indices()
        .nth(TEXT)
        .map_or(message, |(end, _)| &message[..end]);
    tracing::error!(error_id = %ids.error, request_id = ids.request(), trace_id = ids.trace(), panic = message, "{what} panicked");
    let event = SecurityEvent::new(SecurityEventType::SystemPanic)
        .reason(format!("{what} panicked: {message}"));
    record(event.metadata("error_id", ids.error.to_string()));
    error_tracker::capture(&ids, &raised, what, message, 1, &Facts::default());

    ids.error
}
