//! Panics of the program's code: caught where one field fails, and at the latest where a request is answered.

use std::any::Any;

use uuid::Uuid;

use crate::Error;
use crate::error::{ErrorIds, Origin, raised_by_panic};
use crate::error_tracker::{self, Facts};
use crate::security_log::{SecurityEvent, SecurityEventType, record};

/// The log gets this many characters of a message.
const TEXT: usize = 2_000;

/// The message of a panic, for the log.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// The error of what has panicked.
pub(crate) fn error(what: &str, panic: &(dyn Any + Send)) -> Error {
    let message = message(panic);
    let raised = raised_by_panic(message);
    Error::internal(format!("{what} panicked: {message}")).with_origin(Origin::Panic).raised_at(raised)
}

/// Tells the log, the security log and the error tracker of a panic that is no field's error. Returns its `errorId`.
pub(crate) fn report(what: &str, message: &str) -> Uuid {
    let (ids, raised) = (ErrorIds::new(), raised_by_panic(message));
    let message = message.char_indices().nth(TEXT).map_or(message, |(end, _)| &message[..end]);
    tracing::error!(error_id = %ids.error, request_id = ids.request(), trace_id = ids.trace(), panic = message, "{what} panicked");
    let event = SecurityEvent::new(SecurityEventType::SystemPanic).reason(format!("{what} panicked: {message}"));
    record(event.metadata("error_id", ids.error.to_string()));
    error_tracker::capture(&ids, &raised, what, message, 1, &Facts::default());
    ids.error
}
