//! The error tracker: errors that are masked for clients, grouped and stored in PostgreSQL.

#[cfg_attr(not(feature = "sqlx"), path = "no_capture.rs")]
mod capture;
#[cfg(feature = "sqlx")]
mod context;
#[cfg(feature = "sqlx")]
mod exception;
#[cfg(feature = "sqlx")]
mod group;
#[cfg(feature = "sqlx")]
mod standing;
#[cfg(feature = "sqlx")]
mod tracker;
#[cfg(feature = "sqlx")]
mod worker;

#[cfg(feature = "sqlx")]
pub use capture::{get_error_tracker, init_error_tracker};
#[cfg(feature = "sqlx")]
pub use context::ErrorContext;
#[cfg(feature = "sqlx")]
pub use group::{ErrorGroup, ErrorOccurrence, ErrorState};
#[cfg(feature = "sqlx")]
pub use standing::ErrorTrackerStatus;
#[cfg(feature = "sqlx")]
pub use tracker::ErrorTracker;

pub use capture::{Facts, capture, is_tracking};

/// The SQL that creates the schema `svc_errors`, to be run by an owner that is not the role of the
/// service; it may be run again. `SELECT svc_errors.allow('role')` grants its use to the service's
/// role.
pub const MIGRATION: &str = include_str!("migration.sql");
