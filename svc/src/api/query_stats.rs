//! Statistics of statements, as collected by PostgreSQL's extension `pg_stat_statements`, with the
//! root fields that statements belong to.
//!
//! The view `v_query_stats` ([`MIGRATION`]) reads them. Without the extension, there are no
//! statistics, and lists are empty.

#[doc(inline)]
pub use svc_telemetry::query_stats::{MIGRATION, QueryStatsOrder};
#[cfg(feature = "sqlx")]
#[doc(inline)]
pub use svc_telemetry::query_stats::{QueryStats, QueryStatsRecord, init_query_stats};
