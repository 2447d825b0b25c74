//! The built-in checks.

use serde_json::{Map, Value, json};

use super::HealthContext;
use svc_core::{Error, ErrorCode, Result};
use svc_telemetry::metrics::{PoolStatus, Pools as _};

/// Checks that the database responds, on a connection of the pool.
///
/// # Errors
/// A database that does not respond, or a pool without a free connection in time.
pub async fn check_database(context: HealthContext) -> Result<()> {
    let pinged = context.database()?.ping().await;
    pinged.map_err(|error| Error::new(ErrorCode::ServiceUnavailable, error.to_string()))
}

/// Checks that database connections are available. Returns the statistics of each pool.
///
/// # Errors
/// A pool with all connections in use while requests wait for one.
pub async fn check_pool_stats(context: HealthContext) -> Result<Value> {
    let pools = context.database()?.pools();
    if let Some(full) = pools
        .iter()
        .find(|pool| pool.active >= pool.max && pool.waiting.is_some_and(|count| count > 0))
    {
        let PoolStatus {
            pool, max, waiting, ..
        } = full;
        let waiting = waiting.unwrap_or_default();
        let message = format!(
            "all {max} connections of the pool {pool} are in use, and {waiting} requests wait"
        );
        return Err(Error::new(ErrorCode::ServiceUnavailable, message));
    }

    let of_pool = |pool: &PoolStatus| {
        let PoolStatus {
            active,
            idle,
            waiting,
            max,
            ..
        } = pool;

        (
            pool.pool.to_owned(),
            json!({ "active": active, "idle": idle, "waiting": waiting, "max": max }),
        )
    };

    Ok(pools.iter().map(of_pool).collect::<Map<_, _>>().into())
}

/// Checks that statement statistics can be read. Returns whether there are any: without the
/// extension `pg_stat_statements` there are none, which is no failure.
///
/// # Errors
/// A database that cannot be queried.
#[cfg(feature = "sqlx")]
pub async fn check_query_stats(context: HealthContext) -> Result<Value> {
    let database = context.database()?;
    let available = svc_telemetry::query_stats::QueryStats::of(database.sqlx_pool())
        .is_available()
        .await?;
    Ok(json!({ "available": available }))
}
