//! The tracker of the process, and the errors that the service captures itself.

use std::sync::OnceLock;

use sqlx::PgPool;

use super::exception::Exception;
use super::tracker::ErrorTracker;
use svc_core::error::{ErrorIds, ErrorLocation, note_panics};

static PROCESS: OnceLock<ErrorTracker> = OnceLock::new();

/// The request during which an error happened.
#[derive(Debug, Default, Clone)]
pub struct Facts {
    pub operation: Option<String>,
    pub user_id: Option<String>,
}

/// Sets up the error tracker of the process and returns it: from now on, errors that are masked for
/// clients, and panics, are captured. Only the first call has an effect.
///
/// The pool should be a separate one with a few connections, so that errors never wait for
/// connections of resolvers, nor resolvers for connections of errors. The schema is that of
/// [`MIGRATION`](super::MIGRATION). Panics are captured by a panic hook, which then calls the
/// previous hook.
///
/// ```no_run
/// use svc::error_tracker::init_error_tracker;
/// use svc::prelude::*;
/// use svc::sqlx::postgres::PgPoolOptions;
///
/// # async fn f() -> Result<()> {
/// let pool = PgPoolOptions::new().max_connections(2).connect_lazy("postgres://localhost/shop")?;
/// init_error_tracker(pool, "production", env!("CARGO_PKG_VERSION"));
/// # Ok(()) }
/// ```
///
/// # Panics
/// Panics outside of a tokio runtime.
pub fn init_error_tracker(
    pool: PgPool,
    environment: impl Into<String>,
    release_version: impl Into<String>,
) -> ErrorTracker {
    let tracker = PROCESS
        .get_or_init(|| ErrorTracker::start(pool, environment.into(), release_version.into()));
    note_panics();
    tracker.clone()
}

/// Returns the error tracker of the process; `None` before [`init_error_tracker`].
///
/// ```
/// assert!(svc::get_error_tracker().is_none());
/// ```
pub fn get_error_tracker() -> Option<ErrorTracker> {
    PROCESS.get().cloned()
}

/// Whether errors are captured.
pub fn is_tracking() -> bool {
    PROCESS.get().is_some()
}

/// Captures an error of the service, which happened `times` times, if there is a tracker.
pub fn capture(
    ids: &ErrorIds,
    raised: &ErrorLocation,
    function: &str,
    message: &str,
    times: usize,
    facts: &Facts,
) {
    let Some(tracker) = PROCESS.get() else { return };
    tracker.push(|| Exception {
        times: i32::try_from(times).unwrap_or(i32::MAX),
        operation: facts.operation.clone(),
        user_id: facts.user_id.clone(),
        ..Exception::new(ids, raised, function, message)
    });
}
