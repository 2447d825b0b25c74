//! The collector: the series, and the code that counts in them.

mod counter;
mod exemplar;
mod exposition;
mod family;
mod histogram;
mod http;
mod operation;
mod shard;
mod statement;

pub use exposition::Format;
pub(crate) use http::EndpointSeries;
pub use operation::{OperationSlot, RunningOperation};
pub use statement::{RunningStatement, StatementSlot};

use std::sync::OnceLock;
use std::time::Duration;

use self::counter::Counter;
use self::family::{Family, OTHER};
use self::histogram::Histogram;
use self::operation::OperationSeries;
use super::error_type::error_type;
use super::{CacheType, MetricsConfig};

/// The maximum number of series of a name whose labels come from the program or from clients.
const MAX_SERIES: usize = 2_000;

static COLLECTOR: OnceLock<Collector> = OnceLock::new();

/// The collector of metrics, returned by [`get_metrics`]: the series of the whole process.
///
/// Requests of clients are counted automatically; the methods are for the program's own work.
#[derive(Debug, Clone, Copy)]
pub struct Metrics(&'static Collector);

/// Returns the collector; `None` before `setup_metrics`, and if metrics are off.
///
/// ```
/// if let Some(metrics) = svc::get_metrics() {
///     metrics.record_cache_hit("exchange_rates");
/// }
/// ```
pub fn get_metrics() -> Option<Metrics> {
    COLLECTOR.get().map(Metrics)
}

/// Creates the collector, or returns the existing one: a process has one.
pub fn set_collector(config: &MetricsConfig) -> Metrics {
    Metrics(COLLECTOR.get_or_init(|| Collector::new(config)))
}

/// All series.
#[derive(Debug)]
struct Collector {
    namespace: String,
    operations: Family<OperationSeries, 2>,
    mutation_successes: Family<Counter, 2>,
    mutation_errors: Family<Counter, 2>,
    statements: Family<Histogram, 2>,
    caches: Family<CacheSeries, 1>,
    /// The caches of svc itself, by discriminant.
    own_caches: [OnceLock<&'static CacheSeries>; CacheType::ALL.len()],
    errors: Family<Counter, 3>,
    requests: Family<Histogram, 3>,
}

/// The series of one cache.
#[derive(Debug, Default)]
struct CacheSeries {
    hits: Counter,
    misses: Counter,
}

impl Collector {
    fn new(config: &MetricsConfig) -> Self {
        Self {
            namespace: config.namespace.clone(),
            operations: Family::new(usize::try_from(config.max_operations).unwrap_or(MAX_SERIES)),
            mutation_successes: Family::new(MAX_SERIES),
            mutation_errors: Family::new(MAX_SERIES),
            statements: Family::new(MAX_SERIES),
            caches: Family::new(MAX_SERIES),
            own_caches: Default::default(),
            errors: Family::new(MAX_SERIES),
            requests: Family::new(MAX_SERIES),
        }
    }

    fn cache(&self, name: &str) -> &'static CacheSeries {
        self.caches.get([name], [OTHER], |_| CacheSeries::default())
    }
}

impl Metrics {
    /// Counts an operation that took `duration_ms` milliseconds. `operation_type` is `query`,
    /// `mutation` or `subscription`.
    pub fn record_query(
        self,
        operation_type: &str,
        operation_name: &str,
        duration_ms: f64,
        success: bool,
    ) {
        let (labels, folded) = ([operation_type, operation_name], [OTHER; 2]);
        self.0
            .operations
            .get(labels, folded, OperationSeries::new)
            .record(milliseconds(duration_ms), success);
    }

    /// Counts the root field of a mutation, with the type of its result or of its error.
    pub fn record_mutation(self, mutation_name: &str, result: Result<&str, &str>) {
        let (family, kind) = match result {
            Ok(result_type) => (&self.0.mutation_successes, result_type),
            Err(error_type) => (&self.0.mutation_errors, error_type),
        };
        family
            .get([mutation_name, kind], [OTHER; 2], |_| Counter::default())
            .increment();
    }

    /// Counts a statement on a table or view that took `duration_ms` milliseconds.
    pub fn record_db_query(self, query_type: &str, table_name: &str, duration_ms: f64) {
        let statements = &self.0.statements;
        let series = statements.get([query_type, table_name], [OTHER; 2], |_| {
            Histogram::default()
        });
        series.observe(milliseconds(duration_ms));
    }

    /// Counts a cache hit.
    pub fn record_cache_hit(self, cache_type: &str) {
        self.0.cache(cache_type).hits.increment();
    }

    /// Counts a cache miss.
    pub fn record_cache_miss(self, cache_type: &str) {
        self.0.cache(cache_type).misses.increment();
    }

    /// Counts an error: its class, its code, and the name of its operation.
    pub fn record_error(self, error_type: &str, error_code: &str, operation: &str) {
        let (labels, folded) = ([error_type, error_code, operation], [OTHER; 3]);
        self.0
            .errors
            .get(labels, folded, |_| Counter::default())
            .increment();
    }

    /// Counts an error that clients receive with this code.
    #[doc(hidden)]
    pub fn error(self, code: &str, operation: &str) {
        self.record_error(error_type(code), code, operation);
    }

    /// Counts a look-up in a cache of svc itself.
    pub(crate) fn looked_up(self, cache: CacheType, is_hit: bool) {
        // Cached, so that a look-up neither hashes the name nor locks the family.
        let series = self.0.own_caches[cache as usize].get_or_init(|| self.0.cache(cache.as_str()));
        if is_hit {
            series.hits.increment();
        } else {
            series.misses.increment();
        }
    }
}

/// Converts milliseconds to a duration; zero for values that are not a valid duration.
fn milliseconds(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1_000.0).unwrap_or_default()
}
