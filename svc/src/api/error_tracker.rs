//! The error tracker: errors that are masked for clients, grouped and stored in PostgreSQL.
//!
//! An error of a resolver, of a statement or of a stored value, and a panic, is captured with the
//! `errorId` that the response and the log contain; [`ErrorTracker::capture_exception`] captures
//! errors of the program. A request puts the error into a queue of bounded length and continues,
//! even if the database is unavailable; a task writes the queue in batches.
//!
//! The schema `svc_errors` ([`MIGRATION`]) contains the tables and functions. This module needs the
//! feature `sqlx`.

#[doc(inline)]
pub use svc_telemetry::error_tracker::MIGRATION;
#[cfg(feature = "sqlx")]
#[doc(inline)]
pub use svc_telemetry::error_tracker::{
    ErrorContext, ErrorGroup, ErrorOccurrence, ErrorState, ErrorTracker, ErrorTrackerStatus,
    get_error_tracker, init_error_tracker,
};
