//! Panics of the program's code: caught where one field fails, and at the latest where a request is answered.

use std::any::Any;

/// The message of a panic, for the log.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
