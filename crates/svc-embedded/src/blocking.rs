//! Blocking work in asynchronous code.

use tokio::task::spawn_blocking;

/// Runs blocking work on a thread of the blocking pool, and resumes its panics.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await {
        Ok(value) => value,
        // A panic: blocking work is never cancelled, except with its runtime.
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
