use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::{ConfigError, HttpConfig};
use crate::db::{ConnectConfig, Variable};

/// The longest time-out: a year, as clocks do not go for ever.
pub(super) const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Where the service runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Environment {
    /// GraphiQL and introspection are on; a database that is away gives empty results.
    #[default]
    Development,
    /// GraphiQL and introspection are off; a database that is away is an error.
    Production,
}

/// The settings of a service. Each field says the environment variable that [`from_env`](Self::from_env) reads.
///
/// ```
/// use svc::SvcConfig;
///
/// let config = SvcConfig { auto_camel_case: true, ..SvcConfig::default() };
/// assert_eq!(config.port, 8000);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SvcConfig {
    /// `SVC_DATABASE_URL`, or else `DATABASE_URL`: `postgres://user:password@host:port/name`.
    pub database_url: Option<String>,
    /// `SVC_AUTO_CAMEL_CASE`: whether `created_at` becomes `createdAt`. Default false.
    pub auto_camel_case: bool,
    /// `SVC_DATABASE_POOL_TIMEOUT`: seconds to wait for a connection. Default 5.
    pub database_pool_timeout: u64,
    /// `SVC_DATABASE_POOL_SIZE`: the most connections. Default 8.
    pub database_pool_size: u32,
    /// `SVC_DATABASE_STATEMENT_CACHE`: bytes of SQL that each connection for planned reads keeps prepared; 0 keeps none.
    /// Default 262,144.
    pub database_statement_cache: u32,
    /// `SVC_QUERY_TIMEOUT`: seconds after which PostgreSQL cancels a statement. Default 30.
    pub query_timeout: u64,
    /// `SVC_REQUEST_TIMEOUT`: seconds after which a request is ended, whatever it waits for; 0 for never. Default 60.
    pub request_timeout: u64,
    /// `SVC_CATALOGUE_POLL`: milliseconds between two looks at whether views and functions have changed in the database;
    /// 0 never looks. Default 500.
    pub catalogue_poll: u64,
    /// `SVC_ENVIRONMENT`: `development` or `production`. Default `development`.
    pub environment: Environment,
    /// `SVC_SERVICE_NAME`: what `/health` says. Default `svc`.
    pub service_name: String,
    /// `SVC_INTROSPECTION`: whether clients may read the schema. Default: in development only.
    pub introspection: Option<bool>,
    /// `SVC_PERSISTED_QUERIES`: whether clients may send the hash of a document that they have sent before. Default true.
    pub persisted_queries: bool,
    /// `SVC_DOCUMENT_CACHE_SIZE`: MiB that documents, their plans and the statements of those may take. Default 64.
    pub document_cache_size: u64,
    /// `SVC_OPERATIONS_DIR`: a folder whose files are [registered operations](crate::Operation). Default none.
    pub operations_dir: Option<PathBuf>,
    /// `SVC_MAX_OPERATIONS`: the most registered operations that are kept. Default 1,000.
    pub max_operations: u32,
    /// `SVC_REGISTERED_ONLY`: whether clients may send nothing but registered operations. Default false.
    pub registered_only: bool,
    /// `SVC_ENABLE_RUST_ENDPOINT`: whether there is a `POST /graphql/rust`, for operations that need no function of the
    /// program. Default false.
    pub enable_rust_endpoint: bool,
    /// `SVC_ALLOW_UNBOUND_POLICIES`: whether a production service with session variables starts although policies of
    /// row-level security do not bind it; the log says which. Default false.
    pub allow_unbound_policies: bool,
    /// `SVC_REGULAR_EXPRESSIONS`: whether filters have operators that take regular expressions: `matches`, `imatches` and
    /// `pathExists`, whose paths can hold them. Default true.
    pub regular_expressions: bool,
    /// `SVC_HOST`: the address to listen on. Default 127.0.0.1.
    pub host: IpAddr,
    /// `SVC_PORT`: the port to listen on; 0 takes a free one. Default 8000.
    pub port: u16,
    /// `SVC_HTTP_…` and `SVC_HTTP2_…`: the bounds of connections.
    pub http: HttpConfig,
}

impl Default for SvcConfig {
    fn default() -> Self {
        Self {
            database_url: None,
            auto_camel_case: false,
            database_pool_timeout: 5,
            database_pool_size: 8,
            database_statement_cache: 256 << 10,
            query_timeout: 30,
            request_timeout: 60,
            catalogue_poll: 500,
            environment: Environment::Development,
            service_name: "svc".to_owned(),
            introspection: None,
            persisted_queries: true,
            document_cache_size: 64,
            operations_dir: None,
            max_operations: 1_000,
            registered_only: false,
            enable_rust_endpoint: false,
            allow_unbound_policies: false,
            regular_expressions: true,
            host: IpAddr::from([127, 0, 0, 1]),
            port: 8000,
            http: HttpConfig::default(),
        }
    }
}

impl SvcConfig {
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
    /// use svc::SvcConfig;
    ///
    /// let error = SvcConfig::from_variables(|name| (name == "SVC_PORT").then(|| "http".to_owned())).unwrap_err();
    /// assert_eq!(error.to_string(), "SVC_PORT is \"http\"; it must be a port from 0 to 65535");
    /// ```
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let variables = Variables(&get);
        let default = Self::default();
        let database_url =
            ["SVC_DATABASE_URL", "DATABASE_URL"].iter().find_map(|name| variables.text(name).map(|url| (*name, url)));
        if let Some((name, url)) = &database_url {
            read_url(name, url, &get)?;
        }
        Ok(Self {
            database_url: database_url.map(|(_, url)| url),
            auto_camel_case: variables.boolean("SVC_AUTO_CAMEL_CASE")?.unwrap_or(default.auto_camel_case),
            database_pool_timeout: variables
                .number("SVC_DATABASE_POOL_TIMEOUT", 1..=3_600, "seconds")?
                .unwrap_or(default.database_pool_timeout),
            database_pool_size: variables
                .number("SVC_DATABASE_POOL_SIZE", 1..=10_000, "connections")?
                .map_or(default.database_pool_size, |size| u32::try_from(size).unwrap_or(u32::MAX)),
            database_statement_cache: variables
                .number("SVC_DATABASE_STATEMENT_CACHE", 0..=1 << 30, "bytes")?
                .map_or(default.database_statement_cache, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
            query_timeout: variables
                .number("SVC_QUERY_TIMEOUT", 1..=86_400, "seconds")?
                .unwrap_or(default.query_timeout),
            request_timeout: variables
                .number("SVC_REQUEST_TIMEOUT", 0..=86_400, "seconds")?
                .unwrap_or(default.request_timeout),
            catalogue_poll: variables
                .number("SVC_CATALOGUE_POLL", 0..=3_600_000, "milliseconds")?
                .unwrap_or(default.catalogue_poll),
            environment: variables.environment("SVC_ENVIRONMENT")?.unwrap_or_default(),
            service_name: variables.text("SVC_SERVICE_NAME").unwrap_or(default.service_name),
            introspection: variables.boolean("SVC_INTROSPECTION")?,
            persisted_queries: variables.boolean("SVC_PERSISTED_QUERIES")?.unwrap_or(default.persisted_queries),
            document_cache_size: variables
                .number("SVC_DOCUMENT_CACHE_SIZE", 1..=1_048_576, "MiB")?
                .unwrap_or(default.document_cache_size),
            operations_dir: variables.text("SVC_OPERATIONS_DIR").map(PathBuf::from),
            max_operations: variables
                .number("SVC_MAX_OPERATIONS", 1..=100_000, "operations")?
                .map_or(default.max_operations, |most| u32::try_from(most).unwrap_or(u32::MAX)),
            registered_only: variables.boolean("SVC_REGISTERED_ONLY")?.unwrap_or(default.registered_only),
            enable_rust_endpoint: variables
                .boolean("SVC_ENABLE_RUST_ENDPOINT")?
                .unwrap_or(default.enable_rust_endpoint),
            allow_unbound_policies: variables
                .boolean("SVC_ALLOW_UNBOUND_POLICIES")?
                .unwrap_or(default.allow_unbound_policies),
            regular_expressions: variables.boolean("SVC_REGULAR_EXPRESSIONS")?.unwrap_or(default.regular_expressions),
            host: variables
                .parsed("SVC_HOST", "it must be an IP address, such as 127.0.0.1, 0.0.0.0 or ::1")?
                .unwrap_or(default.host),
            port: variables.parsed("SVC_PORT", "it must be a port from 0 to 65535")?.unwrap_or(default.port),
            http: HttpConfig::from_variables(&variables)?,
        })
    }

    /// Whether this is development.
    pub fn is_development(&self) -> bool {
        self.environment == Environment::Development
    }

    /// How long a request may take; `None` for as long as it likes.
    pub(crate) fn request_limit(&self) -> Option<Duration> {
        (self.request_timeout > 0).then(|| Duration::from_secs(self.request_timeout).min(LONGEST_TIMEOUT))
    }

    /// How often the database is asked whether views have changed; `None` is never.
    pub(crate) fn catalogue_poll(&self) -> Option<Duration> {
        (self.catalogue_poll > 0).then(|| Duration::from_millis(self.catalogue_poll).min(LONGEST_TIMEOUT))
    }

    pub(crate) fn pool_timeout(&self) -> Duration {
        Duration::from_secs(self.database_pool_timeout).min(LONGEST_TIMEOUT)
    }
}

/// Shows the settings with the database's password starred.
impl std::fmt::Debug for SvcConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SvcConfig")
            .field("database_url", &self.database_url.as_deref().map(ConnectConfig::shown))
            .field("auto_camel_case", &self.auto_camel_case)
            .field("database_pool_timeout", &self.database_pool_timeout)
            .field("database_pool_size", &self.database_pool_size)
            .field("database_statement_cache", &self.database_statement_cache)
            .field("query_timeout", &self.query_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("catalogue_poll", &self.catalogue_poll)
            .field("environment", &self.environment)
            .field("service_name", &self.service_name)
            .field("introspection", &self.introspection)
            .field("persisted_queries", &self.persisted_queries)
            .field("document_cache_size", &self.document_cache_size)
            .field("operations_dir", &self.operations_dir)
            .field("max_operations", &self.max_operations)
            .field("registered_only", &self.registered_only)
            .field("enable_rust_endpoint", &self.enable_rust_endpoint)
            .field("allow_unbound_policies", &self.allow_unbound_policies)
            .field("regular_expressions", &self.regular_expressions)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("http", &self.http)
            .finish()
    }
}

pub(super) struct Variables<'a>(pub(super) &'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    /// A variable that is set to something.
    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn parsed<T: FromStr>(&self, name: &str, allowed: &str) -> Result<Option<T>, ConfigError> {
        let parse = |value: String| value.parse().map_err(|_| refuse(name, value, allowed));
        self.text(name).map(parse).transpose()
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>, ConfigError> {
        let parse = |value: String| match value.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err(refuse(name, value, "it must be true or false")),
        };
        self.text(name).map(parse).transpose()
    }

    pub(super) fn number(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
        unit: &str,
    ) -> Result<Option<u64>, ConfigError> {
        let allowed = format!("it must be a number of {unit} from {} to {}", range.start(), range.end());
        match self.parsed::<u64>(name, &allowed)? {
            Some(value) if !range.contains(&value) => Err(refuse(name, value.to_string(), &allowed)),
            value => Ok(value),
        }
    }

    fn environment(&self, name: &str) -> Result<Option<Environment>, ConfigError> {
        let parse = |value: String| match value.to_ascii_lowercase().as_str() {
            "development" => Ok(Environment::Development),
            "production" => Ok(Environment::Production),
            _ => Err(refuse(name, value, "it must be development or production")),
        };
        self.text(name).map(parse).transpose()
    }
}

pub(super) fn refuse(name: &str, value: String, allowed: &str) -> ConfigError {
    ConfigError { name: name.to_owned(), value, allowed: allowed.to_owned() }
}

/// Reads a database URL; what it leaves open comes from libpq's environment variables.
pub(super) fn read_url(name: &str, url: &str, variable: Variable<'_>) -> Result<ConnectConfig, ConfigError> {
    // The value is never shown: of a malformed URL nobody knows which part is the password.
    ConnectConfig::parse(url, variable).map_err(|bad| refuse(name, "***".to_owned(), &bad.to_string()))
}

/// An environment variable.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
