//! The statistics of one statement.

/// The statistics of one statement. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct QueryStatsRecord {
    /// PostgreSQL's identifier of the statement.
    pub queryid: i64,
    /// The first 200 characters of its text, which contains no values.
    pub query_preview: String,
    /// The root fields that have run it since [`init_query_stats`](super::init_query_stats), if svc
    /// has recorded them.
    pub root_fields: Vec<String>,
    /// The number of calls.
    pub calls: i64,
    /// The total time of all calls.
    pub total_exec_time_ms: f64,
    /// The mean time of a call.
    pub mean_exec_time_ms: f64,
    /// The time of the shortest call.
    pub min_exec_time_ms: f64,
    /// The time of the longest call.
    pub max_exec_time_ms: f64,
    /// The total number of rows of all calls.
    pub rows_returned: i64,
    /// The blocks that were found in memory.
    pub shared_blks_hit: i64,
    /// The blocks that were read from disk, or from the operating system's cache.
    pub shared_blks_read: i64,
    /// The share of all blocks that were found in memory, from 0 to 1.
    pub cache_hit_ratio: f64,
}
