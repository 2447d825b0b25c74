//! Statistics of statements, as PostgreSQL's extension `pg_stat_statements` keeps them, with the root fields that
//! statements belong to.
//!
//! The view `v_query_stats` ([`MIGRATION`]) reads them. Where the extension is not there, there is nothing to read, and
//! lists are empty.

#[cfg_attr(not(feature = "sqlx"), path = "no_attribution.rs")]
mod attribution;
#[cfg(feature = "sqlx")]
mod normalise;
mod order;
#[cfg(feature = "sqlx")]
mod record;
#[cfg(feature = "sqlx")]
mod statistics;

pub use order::QueryStatsOrder;
#[cfg(feature = "sqlx")]
pub use record::QueryStatsRecord;
#[cfg(feature = "sqlx")]
pub use statistics::{QueryStats, init_query_stats};

pub(crate) use attribution::{attribute, is_attributing, ran};

/// The SQL that makes the view `v_query_stats` where the extension is there. It can be run again, and has to be once the
/// extension has come.
pub const MIGRATION: &str = include_str!("migration.sql");
