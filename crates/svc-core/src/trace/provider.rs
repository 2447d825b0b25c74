//! The provider of tracers, which sends spans in batches and never delays a request.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::Uri;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};

use super::config::{ExportFormat, ExportProtocol, TracingConfig};
use super::drawn::DrawnIds;
use super::http_client::ExportClient;
use super::zipkin::ZipkinExporter;
use crate::settings::{ConfigError, variable};

/// The default time limit of a batch.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The provider of spans, which sends them in batches.
#[derive(Debug)]
pub struct Provider {
    pub(super) sdk: SdkTracerProvider,
    pub(super) tracer: SdkTracer,
    /// Decides which of the traces that start here are sampled.
    pub(super) sampler: Sampler,
    /// Whether spans of operations contain their documents.
    pub(super) tells_documents: bool,
    /// Whether statements carry their trace in a comment.
    pub(super) sql_comments: bool,
    /// Whether spans of statements have the older attribute names too.
    pub(super) older_db_attributes: bool,
}

static PROVIDER: OnceLock<Provider> = OnceLock::new();

/// Returns the provider; `None` until tracing is set up.
pub(super) fn provider() -> Option<&'static Provider> {
    PROVIDER.get()
}

/// Creates the provider of this process, or returns the existing one.
///
/// # Errors
/// An exporter setting that cannot be used.
pub fn set_provider(config: &TracingConfig) -> Result<&'static Provider, ConfigError> {
    static MAKING: Mutex<()> = Mutex::new(());

    // A second provider would leave a thread that exports nothing, and `OnceLock` has no stable
    // fallible `get_or_init`.
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(provider) = PROVIDER.get() {
        return Ok(provider);
    }
    let made = Provider::new(config)?;
    Ok(PROVIDER.get_or_init(|| made))
}

impl Provider {
    fn new(config: &TracingConfig) -> Result<Self, ConfigError> {
        let sampler = Sampler::TraceIdRatioBased(config.sample_rate);
        let building = SdkTracerProvider::builder()
            .with_id_generator(DrawnIds::default())
            .with_resource(resource(config));
        let building = match config.follow_parent {
            true => building.with_sampler(Sampler::ParentBased(Box::new(sampler.clone()))),
            false => building.with_sampler(sampler.clone()),
        };

        let building = match config.export_format {
            ExportFormat::Otlp | ExportFormat::Jaeger => {
                building.with_batch_exporter(exporter(config)?)
            }
            ExportFormat::Zipkin => building.with_batch_exporter(zipkin_exporter(config)?),
        };

        let sdk = building.build();
        let tracer = sdk.tracer("svc");
        let TracingConfig {
            graphql_document: tells_documents,
            sql_comments,
            older_db_attributes,
            ..
        } = *config;

        Ok(Self {
            sdk,
            tracer,
            sampler,
            tells_documents,
            sql_comments,
            older_db_attributes,
        })
    }
}

fn resource(config: &TracingConfig) -> Resource {
    Resource::builder()
        .with_service_name(config.service_name.clone())
        .with_attribute(KeyValue::new(
            "service.version",
            config.service_version.clone(),
        ))
        .with_attribute(KeyValue::new(
            "deployment.environment.name",
            config.deployment_environment.clone(),
        ))
        .build()
}

/// Creates the OTLP exporter. It reads the variables of OpenTelemetry that are not in the
/// configuration, such as those of headers, itself.
fn exporter(config: &TracingConfig) -> Result<SpanExporter, ConfigError> {
    let made = match config.protocol {
        ExportProtocol::Grpc => {
            let exporter = SpanExporter::builder().with_tonic();
            match &config.export_endpoint {
                Some(endpoint) => exporter.with_endpoint(endpoint).build(),
                None => exporter.build(),
            }
        }
        ExportProtocol::HttpProtobuf => {
            let exporter = SpanExporter::builder()
                .with_http()
                .with_http_client(client(TIMEOUTS, CERTIFICATES)?);
            match &config.export_endpoint {
                Some(endpoint) => {
                    // OpenTelemetry's endpoint is a base URL, to which the path of the signal is
                    // appended.
                    exporter.with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
                }
                None => exporter,
            }
            .build()
        }
    };

    made.map_err(|error| {
        let endpoint = config.export_endpoint.as_deref().unwrap_or("not set");
        let allowed = format!(
            "the exporter of spans cannot be made with it and the other variables: {error}"
        );
        ConfigError::new("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint, &allowed)
    })
}

fn zipkin_exporter(config: &TracingConfig) -> Result<ZipkinExporter, ConfigError> {
    const ENDPOINT: &str = "OTEL_EXPORTER_ZIPKIN_ENDPOINT";
    const LOCAL: &str = "http://localhost:9411/api/v2/spans";

    let endpoint = config
        .export_endpoint
        .clone()
        .or_else(|| variable(ENDPOINT))
        .unwrap_or_else(|| LOCAL.to_owned());

    let wrong = |allowed| ConfigError::new(ENDPOINT, &endpoint, allowed);
    let uri: Uri = endpoint
        .parse()
        .map_err(|_| wrong("it must be a URL, such as http://localhost:9411/api/v2/spans"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong(
            "it must be a URL, such as http://localhost:9411/api/v2/spans",
        ));
    }

    let client = client(&["OTEL_EXPORTER_ZIPKIN_TIMEOUT"], &[])?;

    Ok(ZipkinExporter {
        client,
        endpoint: uri,
        service_name: config.service_name.clone(),
    })
}

/// The variables for the time limit of a batch over HTTP; the first that is set counts.
const TIMEOUTS: &[&str] = &[
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
];
/// The variables for the authorities of the collector's certificate.
const CERTIFICATES: &[&str] = &[
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
];

fn client(
    timeouts: &[&'static str],
    certificates: &[&'static str],
) -> Result<ExportClient, ConfigError> {
    // The variable for traces takes precedence over the one for all signals.
    let first =
        |names: &[&'static str]| names.iter().find_map(|name| Some((*name, variable(name)?)));
    let timeout = match first(timeouts) {
        None => TIMEOUT,
        Some((name, text)) => {
            let milliseconds = text.parse().ok().filter(|milliseconds| *milliseconds > 0);
            let milliseconds = milliseconds
                .ok_or_else(|| ConfigError::new(name, &text, "it must be milliseconds"))?;
            Duration::from_millis(milliseconds)
        }
    };

    let roots = match first(certificates) {
        None => None,
        Some((name, file)) => {
            let read = std::fs::read(&file);
            Some(read.map_err(|error| {
                ConfigError::new(name, &file, &format!("it must be a PEM file: {error}"))
            })?)
        }
    };

    ExportClient::new(roots.as_deref(), timeout)
        .map_err(|error| ConfigError::new("OTEL_EXPORTER_OTLP_CERTIFICATE", "not usable", &error))
}
