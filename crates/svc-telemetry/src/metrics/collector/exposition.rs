//! The series in a text format.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector as Encoded;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::Registry;

use super::counter::Counter;
use super::exemplar::with_exemplars;
use super::histogram::Histogram;
use super::operation::OperationSeries;
use super::{CacheSeries, Collector, Metrics};
use crate::metrics::PoolStatus;
use crate::metrics::applications::pools;

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' own format (<https://prometheus.io/docs/instrumenting/exposition_formats/>). It
    /// declares the type of a counter under its full name.
    Text,
    /// OpenMetrics 1.0. `_total` is not part of a counter's name there.
    OpenMetrics,
}

impl Format {
    /// Returns the media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

impl Metrics {
    /// Returns all series as text.
    ///
    /// # Errors
    /// None in practice: writing to a string never fails.
    #[doc(hidden)]
    pub fn encode(self, format: Format) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix(&self.0.namespace);
        let exemplars = Arc::<Mutex<Vec<String>>>::default();

        // A registry for each scrape, because its collector writes in the format of this scrape.
        registry.register_collector(Box::new(Encoding {
            collector: self.0,
            format,
            exemplars: exemplars.clone(),
        }));

        let mut text = String::new();
        encode_registry(&mut text, &registry)?;

        match format {
            Format::OpenMetrics => {
                text = with_exemplars(
                    &text,
                    &exemplars.lock().unwrap_or_else(PoisonError::into_inner),
                );

                // OpenMetrics requires `# EOF` as the last line; the older format does not have it.
                encode_eof(&mut text)?;
            }
            // The text format 0.0.4 has `untyped` in place of OpenMetrics' `unknown`.
            Format::Text => text = text.replace("_total unknown\n", "_total untyped\n"),
        }

        Ok(text)
    }
}

/// The series in one format.
#[derive(Debug)]
struct Encoding {
    collector: &'static Collector,
    format: Format,
    /// The text to append to the line of each bucket of the histograms, in their order.
    exemplars: Arc<Mutex<Vec<String>>>,
}

impl Encoded for Encoding {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.operations(&mut encoder)?;
        self.mutations(&mut encoder)?;
        self.statements(&mut encoder)?;
        self.pools(&mut encoder)?;
        self.caches(&mut encoder)?;
        let errors = values(&self.collector.errors.all(), Counter::get);
        let labels = ["error_type", "error_code", "operation"];
        self.counter(
            &mut encoder,
            "errors",
            "Errors returned to clients",
            labels,
            &errors,
        )?;

        let labels = ["method", "endpoint", "status"];
        let all = self.collector.requests.all();
        self.counter(
            &mut encoder,
            "http_requests",
            "HTTP requests",
            labels,
            &values(&all, Histogram::count),
        )?;

        let (name, help) = (
            "http_request_duration_seconds",
            "Time from the head of a request to the head of its response, in seconds",
        );

        self.histogram(
            &mut encoder,
            name,
            help,
            labels,
            all.iter().map(|(values, series)| (values, *series)),
        )
    }
}

/// The values of a counter, by label values.
type Values<const N: usize> = Vec<([Box<str>; N], u64)>;

fn values<S, const N: usize>(all: &[([Box<str>; N], &S)], value: impl Fn(&S) -> u64) -> Values<N> {
    all.iter()
        .map(|(labels, series)| (labels.clone(), value(series)))
        .collect()
}

impl Encoding {
    fn operations(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (labels, all) = (
            ["operation_type", "operation_name"],
            self.collector.operations.all(),
        );
        let success = values(&all, |series: &OperationSeries| series.success.get());
        let errors = values(&all, |series| series.errors.get());

        // The sum of the values shown, so that the three are consistent.
        let sum = |((labels, success), (_, errors)): (&([Box<str>; 2], u64), &(_, u64))| {
            (labels.clone(), success + errors)
        };

        let total: Values<2> = success.iter().zip(&errors).map(sum).collect();
        self.counter(
            encoder,
            "graphql_queries",
            "GraphQL operations that ran",
            labels,
            &total,
        )?;

        self.counter(
            encoder,
            "graphql_queries_success",
            "GraphQL operations without an error",
            labels,
            &success,
        )?;

        self.counter(
            encoder,
            "graphql_queries_errors",
            "GraphQL operations with errors, including aborted ones",
            labels,
            &errors,
        )?;

        let (name, help) = (
            "graphql_query_duration_seconds",
            "Time from the parsed GraphQL request to its response, in seconds",
        );

        self.histogram(
            encoder,
            name,
            help,
            labels,
            all.iter()
                .map(|(values, series)| (values, &series.duration)),
        )
    }

    fn mutations(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let success = values(&self.collector.mutation_successes.all(), Counter::get);
        let errors = values(&self.collector.mutation_errors.all(), Counter::get);
        let mut total: Values<1> = Vec::new();

        // A mutation has a series for each type of its results and of its errors.
        for ([name, _], count) in success.iter().chain(&errors) {
            match total.iter_mut().find(|([known], _)| known == name) {
                Some((_, sum)) => *sum += count,
                None => total.push(([name.clone()], *count)),
            }
        }

        self.counter(
            encoder,
            "graphql_mutations",
            "Root fields of mutations that ran",
            ["mutation_name"],
            &total,
        )?;

        let (name, help) = (
            "graphql_mutations_success",
            "Root fields of mutations that succeeded",
        );
        self.counter(
            encoder,
            name,
            help,
            ["mutation_name", "result_type"],
            &success,
        )?;

        let (name, help) = (
            "graphql_mutations_errors",
            "Root fields of mutations that failed",
        );

        self.counter(
            encoder,
            name,
            help,
            ["mutation_name", "error_type"],
            &errors,
        )
    }

    fn statements(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (labels, all) = (
            ["query_type", "table_name"],
            self.collector.statements.all(),
        );
        self.counter(
            encoder,
            "db_queries",
            "SQL statements that ran",
            labels,
            &values(&all, Histogram::count),
        )?;

        let (name, help) = (
            "db_query_duration_seconds",
            "Time from sending an SQL statement to its last row, in seconds",
        );

        self.histogram(
            encoder,
            name,
            help,
            labels,
            all.iter().map(|(values, series)| (values, *series)),
        )
    }

    fn pools(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let pools = pools();
        let mut gauge =
            |name: &str, help: &str, ty, value: fn(&PoolStatus) -> Option<u32>| -> fmt::Result {
                let mut encoder = encoder.encode_descriptor(name, help, None, ty)?;
                for (pool, value) in pools.iter().filter_map(|pool| Some((pool, value(pool)?))) {
                    encoder
                        .encode_family(&[("pool", pool.pool)])?
                        .encode_gauge(&value)?;
                }
                Ok(())
            };

        // promtool requires that counters, and only counters, end in `_total`. In the format that
        // it checks, the type is left open.
        let of_total = if self.format == Format::Text {
            MetricType::Unknown
        } else {
            MetricType::Gauge
        };

        let total = |pool: &PoolStatus| Some(pool.active + pool.idle);
        gauge(
            "db_connections_active",
            "Database connections in use",
            MetricType::Gauge,
            |pool| Some(pool.active),
        )?;

        gauge(
            "db_connections_idle",
            "Idle database connections",
            MetricType::Gauge,
            |pool| Some(pool.idle),
        )?;

        gauge(
            "db_connections_total",
            "Open database connections",
            of_total,
            total,
        )?;
        gauge(
            "db_connections_max",
            "Maximum number of database connections",
            MetricType::Gauge,
            |pool| Some(pool.max),
        )?;

        gauge(
            "db_connections_waiting",
            "Requests that wait for a database connection",
            MetricType::Gauge,
            |pool| pool.waiting,
        )
    }

    fn caches(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (labels, all) = (["cache_type"], self.collector.caches.all());
        let hits = values(&all, |series: &CacheSeries| series.hits.get());
        let misses = values(&all, |series| series.misses.get());

        self.counter(
            encoder,
            "cache_hits",
            "Cache lookups that found an entry",
            labels,
            &hits,
        )?;

        self.counter(
            encoder,
            "cache_misses",
            "Cache lookups that found no entry",
            labels,
            &misses,
        )
    }

    fn counter<const N: usize>(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        labels: [&str; N],
        all: &Values<N>,
    ) -> fmt::Result {
        let full = format!("{name}_total");
        let name = if self.format == Format::Text {
            full.as_str()
        } else {
            name
        };

        let mut encoder = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (values, count) in all {
            let labels = Labels(labels, values);
            let mut metric = encoder.encode_family(&labels)?;
            match self.format {
                // Encoded as a gauge, whose name gets no suffix.
                Format::Text => metric.encode_gauge(count)?,
                Format::OpenMetrics => {
                    metric.encode_counter(count, None::<&Exemplar<NoLabelSet, u64>>)?;
                }
            }
        }

        Ok(())
    }

    fn histogram<'a, const N: usize>(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        labels: [&str; N],
        all: impl Iterator<Item = (&'a [Box<str>; N], &'a Histogram)>,
    ) -> fmt::Result {
        let mut encoder = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (values, series) in all {
            let taken = series.distribution();
            let labels = Labels(labels, values);
            let mut metric: MetricEncoder<'_> = encoder.encode_family(&labels)?;
            metric.encode_histogram::<NoLabelSet>(taken.sum, taken.count, &taken.buckets, None)?;

            // In the order of the lines, which `with_exemplars` relies on.
            self.exemplars
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(taken.exemplars);
        }

        Ok(())
    }
}

/// The names and values of labels.
struct Labels<'a, const N: usize>([&'a str; N], &'a [Box<str>; N]);

impl<const N: usize> EncodeLabelSet for Labels<'_, N> {
    fn encode(
        &self,
        encoder: &mut prometheus_client::encoding::LabelSetEncoder<'_>,
    ) -> fmt::Result {
        use prometheus_client::encoding::EncodeLabel as _;
        for (name, value) in self.0.iter().zip(self.1) {
            (*name, &**value).encode(encoder.encode_label())?;
        }
        Ok(())
    }
}
