//! The location of a thread's last panic.

#[cfg(feature = "sqlx")]
use std::{borrow::Cow, cell::RefCell, panic::PanicHookInfo, sync::Once};

use super::raised::ErrorLocation;
#[cfg(feature = "sqlx")]
use super::stack;

#[cfg(feature = "sqlx")]
thread_local! {
    /// The last panic of this thread, with its message.
    static LAST_PANIC: RefCell<Option<(String, ErrorLocation)>> = const { RefCell::new(None) };
}

/// Starts capturing stacks of errors and recording panics, before the program's own hook sees them.
#[cfg(feature = "sqlx")]
pub fn note_panics() {
    static ONCE: Once = Once::new();

    ONCE.call_once(|| {
        stack::want();

        // The previous hook still runs: it prints the panic, or reports it to another service.
        let next = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            note(info);
            next(info);
        }));
    });
}

#[cfg(feature = "sqlx")]
fn note(info: &PanicHookInfo<'_>) {
    let Some(location) = info.location() else {
        return;
    };

    let message = info.payload_as_str().unwrap_or("no message").to_owned();
    let (file, line) = (Cow::Owned(location.file().to_owned()), location.line());
    let raised = ErrorLocation {
        kind: Cow::Borrowed("panic"),
        file,
        line,
        stack: stack::take(),
    };

    // A thread that is ending has no thread-local value any more.
    let _ = LAST_PANIC.try_with(|last| last.replace(Some((message, raised))));
}

/// Returns the location of this thread's last panic, if it had this message and panics are
/// recorded.
pub fn raised_by_panic(message: &str) -> ErrorLocation {
    // The message must match: a payload from another thread, or one of `resume_unwind`, is not the
    // last panic of this thread.
    #[cfg(feature = "sqlx")]
    if let Ok(Some((noted, raised))) = LAST_PANIC.try_with(RefCell::take)
        && noted == message
    {
        return raised;
    }
    let _ = message;
    ErrorLocation::nowhere("panic")
}
