//! The public modules whose items are defined in the internal crates.

#[cfg(feature = "native-auth")]
pub mod accounts;
pub mod auth;
pub mod authz;
pub mod db;
pub mod error_tracker;
pub mod events;
pub mod metrics;
pub mod query_stats;
pub mod scalar;
pub mod schema;
pub mod security_log;
#[cfg(feature = "sessions")]
pub mod sessions;
pub mod trace;
