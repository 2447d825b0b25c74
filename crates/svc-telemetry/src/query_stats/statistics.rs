//! The collector of statistics.

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgPool, Row as _};

use super::attribution::{root_fields, start_attributing};
use super::{QueryStatsOrder, QueryStatsRecord};

/// The number of characters of a statement's text in a record.
const PREVIEW: usize = 200;

/// The errors for a missing view or extension: undefined table, undefined function, an extension
/// that is not loaded.
const ABSENT: [&str; 3] = ["42P01", "42883", "55000"];

/// Statistics of statements, returned by [`init_query_stats`].
#[derive(Debug, Clone)]
pub struct QueryStats {
    pool: PgPool,
}

/// Returns the collector of statistics for the database of a pool. From now on, svc records which
/// root fields its statements belong to.
///
/// ```no_run
/// use svc::prelude::*;
/// use svc::query_stats::{QueryStatsOrder, init_query_stats};
///
/// # async fn f(pool: svc::sqlx::PgPool) -> Result<()> {
/// let statistics = init_query_stats(pool);
/// for statement in statistics.get_stats(10, QueryStatsOrder::TotalExecTime).await? {
///     println!("{:?} {} {}", statement.root_fields, statement.calls, statement.query_preview);
/// }
/// # Ok(()) }
/// ```
pub fn init_query_stats(pool: PgPool) -> QueryStats {
    start_attributing();
    QueryStats { pool }
}

impl QueryStats {
    /// Returns the first statements in an order; an empty list if the view or the extension does
    /// not exist.
    ///
    /// # Errors
    /// Fails if the database cannot be queried.
    pub async fn get_stats(
        &self,
        top_n: u32,
        order_by: QueryStatsOrder,
    ) -> svc_core::Result<Vec<QueryStatsRecord>> {
        // The name is one of four constants, never external input.
        let sql = format!(
            "SELECT * FROM v_query_stats ORDER BY {} DESC, queryid LIMIT $1",
            order_by.as_str()
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(i64::from(top_n))
            .fetch_all(&self.pool)
            .await;

        match rows {
            Ok(rows) => Ok(rows.iter().map(record).collect::<Result<_, _>>()?),
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether statistics are available.
    #[doc(hidden)]
    pub async fn is_available(&self) -> svc_core::Result<bool> {
        match sqlx::query("SELECT FROM v_query_stats LIMIT 1")
            .execute(&self.pool)
            .await
        {
            Ok(_) => Ok(true),
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the statistics of an application's database, without starting to record root fields.
    #[doc(hidden)]
    pub fn of(pool: &PgPool) -> Self {
        Self { pool: pool.clone() }
    }
}

fn is_absent(error: &sqlx::Error) -> bool {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| ABSENT.contains(&&*code))
}

fn record(row: &PgRow) -> Result<QueryStatsRecord, sqlx::Error> {
    let query: String = row.try_get("query")?;
    Ok(QueryStatsRecord {
        queryid: row.try_get("queryid")?,
        root_fields: root_fields(&query),
        query_preview: query.chars().take(PREVIEW).collect(),
        calls: row.try_get("calls")?,
        total_exec_time_ms: row.try_get("total_exec_time")?,
        mean_exec_time_ms: row.try_get("mean_exec_time")?,
        min_exec_time_ms: row.try_get("min_exec_time")?,
        max_exec_time_ms: row.try_get("max_exec_time")?,
        rows_returned: row.try_get("rows_returned")?,
        shared_blks_hit: row.try_get("shared_blks_hit")?,
        shared_blks_read: row.try_get("shared_blks_read")?,
        cache_hit_ratio: row.try_get("cache_hit_ratio")?,
    })
}
