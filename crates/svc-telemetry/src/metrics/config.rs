//! The settings of metrics.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use svc_core::settings::{
    BETWEEN, ConfigError, Count, Kind, Maybe, Parsed, Text, Whether, from_environment, items,
    settings,
};

settings! {
    /// The settings of metrics, which are counted once `setup_metrics` is called; the field
    /// `metrics` of `SvcConfig`.
    ///
    /// ```
    /// use svc::MetricsConfig;
    ///
    /// let config = MetricsConfig { namespace: "shop".to_owned(), ..MetricsConfig::default() };
    /// assert_eq!(config.metrics_path, "/metrics");
    /// ```
    pub struct MetricsConfig {
        /// Enables metrics. If `true`, they are also served beside `/graphql` in production.
        enabled: Option<bool> = None, ["SVC_METRICS_ENABLED"], Whether("true");
        /// Prefix of the names of all series.
        namespace: String = "svc".to_owned(), ["SVC_METRICS_NAMESPACE"], Text;
        /// Path at which metrics are served.
        metrics_path: String = "/metrics".to_owned(), ["SVC_METRICS_PATH"], Text;
        /// Paths whose requests are excluded from the HTTP metrics.
        exclude_paths: BTreeSet<String> = ["/metrics", "/health", "/ready", "/startup"].map(str::to_owned).into(),
            ["SVC_METRICS_EXCLUDE_PATHS"], Paths;
        /// Address and port at which metrics are served, instead of the service's own.
        address: Option<SocketAddr> = None, ["SVC_METRICS_ADDR"],
            Maybe(Parsed("an address with a port, such as 127.0.0.1:9464"));
        /// Maximum number of operation names with their own series; other names are counted as
        /// `other`. Registered operations always keep their names.
        max_operations: u32 = 200, ["SVC_METRICS_MAX_OPERATIONS"], Count(0..=10_000, "names");
    }
}

impl MetricsConfig {
    /// Reads the environment.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_env() -> Result<Self, ConfigError> {
        from_environment()
    }

    /// Checks what the types leave open.
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), ConfigError> {
        let (namespace, path) = (&self.namespace, &self.metrics_path);
        if !is_name(namespace) {
            let allowed = "it must be letters, digits and underscores, and begin with a letter";
            return Err(ConfigError::new(
                "SVC_METRICS_NAMESPACE",
                namespace,
                allowed,
            ));
        }

        // Braces would be parameters of the router.
        if path.len() < 2 || !path.starts_with('/') || path.contains(['{', '}', '?', '#', ' ']) {
            return Err(ConfigError::new(
                "SVC_METRICS_PATH",
                path,
                "it must be a path, such as /metrics",
            ));
        }

        Ok(())
    }
}

fn is_name(namespace: &str) -> bool {
    namespace.starts_with(|first: char| first.is_ascii_alphabetic())
        && namespace
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// A set of paths, separated by commas.
struct Paths;

impl Kind<BTreeSet<String>> for Paths {
    fn parse(&self, text: &str) -> Result<BTreeSet<String>, String> {
        items(text)
            .map(BTreeSet::from_iter)
            .ok_or_else(|| format!("it must be {}", self.allowed()))
    }

    fn allowed(&self) -> String {
        format!("paths, {BETWEEN}")
    }

    fn shown(&self, value: &BTreeSet<String>) -> String {
        value
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(",")
    }
}
