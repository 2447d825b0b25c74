//! The statistics of one statement.

/// The statistics of one statement. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct QueryStatsRecord {
    /// PostgreSQL's number of the statement.
    pub queryid: i64,
    /// The first 200 characters of its text, in which values are left out.
    pub query_preview: String,
    /// The root fields that ran it since [`init_query_stats`](super::init_query_stats), as far as svc knows.
    pub root_fields: Vec<String>,
    /// The number of its calls.
    pub calls: i64,
    /// The time of all calls together.
    pub total_exec_time_ms: f64,
    /// The time of a call.
    pub mean_exec_time_ms: f64,
    /// The time of the shortest call.
    pub min_exec_time_ms: f64,
    /// The time of the longest call.
    pub max_exec_time_ms: f64,
    /// The rows of all calls together.
    pub rows_returned: i64,
    /// The blocks that were found in memory.
    pub shared_blks_hit: i64,
    /// The blocks that were read from the disk, or the system's cache of it.
    pub shared_blks_read: i64,
    /// The part of all blocks that was found in memory, from 0 to 1.
    pub cache_hit_ratio: f64,
}
