//! Statistics of statements, as collected by PostgreSQL's extension `pg_stat_statements`, with the
//! root fields that statements belong to.

#[cfg_attr(not(feature = "sqlx"), path = "no_attribution.rs")]
mod attribution;
#[cfg(feature = "sqlx")]
mod normalize;
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

pub use attribution::{attribute, is_attributing, ran};

/// The SQL that creates the view `v_query_stats` if the extension exists. It can be run again, and
/// must be after installing the extension.
pub const MIGRATION: &str = include_str!("migration.sql");
