//! The program's own work, counted as an operation.

use std::future::Future;
use std::time::Instant;

use super::get_metrics;

/// Runs work of the program and counts it with the operations, as
/// [`Metrics::record_query`](super::Metrics::record_query) does: its time, and whether it
/// succeeded. Operations from clients are counted automatically.
///
/// ```
/// use svc::metrics::with_metrics;
///
/// # async fn f() -> svc::Result<()> {
/// let rows = with_metrics("query", "nightlyReport", async { Ok::<_, svc::Error>(42) }).await?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// The error of the work.
pub async fn with_metrics<T, E>(
    operation_type: &str,
    operation_name: &str,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let Some(metrics) = get_metrics() else {
        return work.await;
    };

    let began = Instant::now();
    let result = work.await;
    metrics.record_query(
        operation_type,
        operation_name,
        began.elapsed().as_secs_f64() * 1_000.0,
        result.is_ok(),
    );

    result
}
