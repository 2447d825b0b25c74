//! The settings of tracing, most of which are the variables that OpenTelemetry has for all
//! programs.

use std::collections::BTreeSet;
use std::str::FromStr;

use crate::settings::{ConfigError, Flag, Kind as _, Variables, use_variable, variable};

const SQL_COMMENTS: &str = "SVC_TRACING_SQL_COMMENTS";

/// The settings of tracing, which begins once `setup_tracing` is called.
///
/// ```
/// use svc::TracingConfig;
///
/// let config = TracingConfig { service_name: "shop".to_owned(), sample_rate: 0.01, ..TracingConfig::default() };
/// assert!(config.exclude_paths.contains("/health"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TracingConfig {
    /// Whether requests are traced. Not with `OTEL_SDK_DISABLED=true` or
    /// `OTEL_TRACES_EXPORTER=none`.
    pub enabled: bool,
    /// The name of the service; `OTEL_SERVICE_NAME`, or `service.name` in
    /// `OTEL_RESOURCE_ATTRIBUTES`.
    pub service_name: String,
    /// The version of the service; `service.version` in `OTEL_RESOURCE_ATTRIBUTES`.
    pub service_version: String,
    /// The environment; `deployment.environment.name` in `OTEL_RESOURCE_ATTRIBUTES`, or else
    /// `SVC_ENVIRONMENT`.
    pub deployment_environment: String,
    /// The share of traces that is sampled, from 0.0 to 1.0; `OTEL_TRACES_SAMPLER` and
    /// `OTEL_TRACES_SAMPLER_ARG`.
    pub sample_rate: f64,
    /// Whether a request whose `traceparent` says if its trace is sampled is sampled accordingly.
    pub follow_parent: bool,
    /// The receiver of spans; `OTEL_TRACES_EXPORTER`.
    pub export_format: ExportFormat,
    /// The way of sending spans; `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`, or else
    /// `OTEL_EXPORTER_OTLP_PROTOCOL`.
    pub protocol: ExportProtocol,
    /// The URL of the collector, without `/v1/traces`. By default
    /// `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or else `OTEL_EXPORTER_OTLP_ENDPOINT`, or else port
    /// 4318 of this machine, 4317 for gRPC. Zipkin's is the whole URL, by default
    /// `OTEL_EXPORTER_ZIPKIN_ENDPOINT`, or else `http://localhost:9411/api/v2/spans`.
    pub export_endpoint: Option<String>,
    /// The paths whose requests are not traced.
    pub exclude_paths: BTreeSet<String>,
    /// Whether the span of an operation has its text as `graphql.document`. Clients write values
    /// into documents, so it has not unless the program wants it.
    pub graphql_document: bool,
    /// Whether PostgreSQL gets the trace with each statement of a request that is sampled, as a
    /// comment behind it (`traceparent='…'`, as
    /// [sqlcommenter](https://google.github.io/sqlcommenter/spec/) has it), so that its log and
    /// `pg_stat_activity` name the trace; `SVC_TRACING_SQL_COMMENTS`. PostgreSQL has to plan such a
    /// statement each time.
    pub sql_comments: bool,
    /// Whether spans of statements have `db.system` and `db.statement` beside the names of the
    /// stable semantic conventions; not with `OTEL_SEMCONV_STABILITY_OPT_IN=database`.
    pub older_db_attributes: bool,
}

/// The receiver of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// A collector that takes OTLP.
    Otlp,
    /// Jaeger, which takes OTLP too.
    Jaeger,
    /// Zipkin, over HTTP in its own form. [`TracingConfig::protocol`] is not looked at.
    Zipkin,
}

/// The way of sending OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportProtocol {
    /// Over gRPC.
    Grpc,
    /// Protobuf over HTTP.
    HttpProtobuf,
}

impl Default for TracingConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            service_name: "svc".to_owned(),
            service_version: "unknown".to_owned(),
            deployment_environment: "development".to_owned(),
            sample_rate: 1.0,
            follow_parent: true,
            export_format: ExportFormat::Otlp,
            protocol: ExportProtocol::HttpProtobuf,
            export_endpoint: None,
            exclude_paths: [
                "/health",
                "/ready",
                "/startup",
                "/metrics",
                "/docs",
                "/openapi.json",
            ]
            .map(str::to_owned)
            .into(),
            graphql_document: false,
            sql_comments: false,
            older_db_attributes: true,
        }
    }
}

impl TracingConfig {
    /// Reads the environment.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(variable)
    }

    /// Reads variables from `get`.
    ///
    /// ```
    /// use svc::TracingConfig;
    ///
    /// let error = TracingConfig::from_variables(|name| (name == "OTEL_TRACES_EXPORTER").then(|| "zip".to_owned()));
    /// assert!(error.unwrap_err().to_string().contains("must be otlp, jaeger, zipkin or none"));
    /// ```
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let variables = Variables(&get);
        let get = |name: &str| variables.text(name);
        let default = Self::default();
        let attributes = get("OTEL_RESOURCE_ATTRIBUTES");
        let attribute = |key: &str| attribute(attributes.as_deref()?, key);
        let (sample_rate, follow_parent) = sampler(&get)?;
        let mut config = Self {
            service_name: get("OTEL_SERVICE_NAME")
                .or_else(|| attribute("service.name"))
                .unwrap_or(default.service_name),
            service_version: attribute("service.version").unwrap_or(default.service_version),
            deployment_environment: attribute("deployment.environment.name")
                .or_else(|| get("SVC_ENVIRONMENT"))
                .unwrap_or(default.deployment_environment),
            sample_rate,
            follow_parent,
            // The specification treats every other value as false.
            enabled: !get("OTEL_SDK_DISABLED")
                .is_some_and(|text| text.eq_ignore_ascii_case("true")),
            older_db_attributes: !opts_into_stable_names(
                get("OTEL_SEMCONV_STABILITY_OPT_IN").as_deref(),
            ),
            ..Self::default()
        };

        if let Some(text) = get(SQL_COMMENTS) {
            config.sql_comments = Flag
                .parse(&text)
                .map_err(|allowed| ConfigError::new(SQL_COMMENTS, &text, &allowed))?;
        }

        match get("OTEL_TRACES_EXPORTER").as_deref() {
            None => {}
            Some("none") => config.enabled = false,
            Some(text) => config.export_format = parsed("OTEL_TRACES_EXPORTER", text)?,
        }

        // The variable for traces is read second, because it overrides the general one.
        for name in [
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        ] {
            if let Some(text) = get(name) {
                config.protocol = parsed(name, &text)?;
            }
        }

        Ok(config)
    }

    /// Notes that spans are made with these settings. Where the program has another value, the
    /// variable is no part's.
    #[doc(hidden)]
    pub fn note_use(&self) {
        let variables = Variables(&variable);
        let given = variables
            .text(SQL_COMMENTS)
            .and_then(|text| Flag.parse(&text).ok());
        if cfg!(feature = "tracing-otel") && (!self.enabled || given == Some(self.sql_comments)) {
            use_variable(SQL_COMMENTS);
        }
    }

    /// Checks what the types leave open.
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(0.0..=1.0).contains(&self.sample_rate) {
            let allowed =
                "it must be a number from 0.0 to 1.0, which is the share of traces that is sampled";
            return Err(ConfigError::new(
                "sample_rate",
                self.sample_rate.to_string(),
                allowed,
            ));
        }

        let Some(endpoint) = &self.export_endpoint else {
            return Ok(());
        };

        let uri = endpoint.parse::<axum::http::Uri>().ok();
        let has_scheme = uri.is_some_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));

        // Checked first, because the next error quotes the URL.
        if endpoint.contains('@') {
            let allowed = "it must be a URL without a password; set OTEL_EXPORTER_OTLP_HEADERS for credentials";
            return Err(ConfigError::new("export_endpoint", "***", allowed));
        }

        if !has_scheme {
            let allowed = "it must be a URL, such as http://localhost:4318";
            return Err(ConfigError::new("export_endpoint", endpoint, allowed));
        }

        Ok(())
    }
}

/// Whether the list of conventions to which a program has moved has that of databases, and not that
/// of a program which is moving and has both names, `database/dup`.
fn opts_into_stable_names(conventions: Option<&str>) -> bool {
    let is_listed =
        |name: &str| conventions.is_some_and(|list| list.split(',').any(|one| one.trim() == name));
    // `database/dup` means both sets of names, and takes precedence over `database`.
    is_listed("database") && !is_listed("database/dup")
}

/// The value of a key in `OTEL_RESOURCE_ATTRIBUTES`.
fn attribute(attributes: &str, key: &str) -> Option<String> {
    let value = attributes
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| name.trim() == key)?
        .1;

    // OpenTelemetry requires percent-encoded values.
    Some(
        percent_encoding::percent_decode_str(value.trim())
            .decode_utf8_lossy()
            .into_owned(),
    )
}

/// The share that is sampled, and whether the parent's decision counts.
fn sampler(get: &impl Fn(&str) -> Option<String>) -> Result<(f64, bool), ConfigError> {
    const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
    const ARGUMENT: &str = "OTEL_TRACES_SAMPLER_ARG";

    // Only called for `traceidratio`: other samplers ignore the argument, however it is written.
    let ratio = || {
        let Some(text) = get(ARGUMENT) else {
            return Ok(1.0);
        };
        let ratio = text
            .parse::<f64>()
            .ok()
            .filter(|ratio| (0.0..=1.0).contains(ratio));
        ratio
            .ok_or_else(|| ConfigError::new(ARGUMENT, &text, "it must be a number from 0.0 to 1.0"))
    };

    let Some(text) = get(SAMPLER) else {
        // The default of the specification is `parentbased_always_on`.
        return Ok((1.0, true));
    };

    let (name, follows) = text
        .strip_prefix("parentbased_")
        .map_or((text.as_str(), false), |name| (name, true));

    match name {
        "always_on" => Ok((1.0, follows)),
        "always_off" => Ok((0.0, follows)),
        "traceidratio" => Ok((ratio()?, follows)),
        _ => {
            let allowed = "it must be always_on, always_off or traceidratio, or one of them after parentbased_";
            Err(ConfigError::new(SAMPLER, &text, allowed))
        }
    }
}

fn parsed<T: FromStr<Err = &'static str>>(
    name: &'static str,
    text: &str,
) -> Result<T, ConfigError> {
    text.parse()
        .map_err(|allowed| ConfigError::new(name, text, allowed))
}

impl FromStr for ExportFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "otlp" => Ok(Self::Otlp),
            "jaeger" => Ok(Self::Jaeger),
            "zipkin" => Ok(Self::Zipkin),
            _ => Err("it must be otlp, jaeger, zipkin or none"),
        }
    }
}

impl FromStr for ExportProtocol {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "grpc" => Ok(Self::Grpc),
            "http/protobuf" => Ok(Self::HttpProtobuf),
            _ => Err("it must be grpc or http/protobuf"),
        }
    }
}
