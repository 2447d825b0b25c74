//! The settings of a service, from its environment.

mod accounts;
mod database;
mod events;
mod http;
mod protection;
pub(super) mod redis;

#[cfg(test)]
mod tests;

pub use accounts::AccountsConfig;
pub use database::DatabaseConfig;
pub(super) use database::read_url;
pub use events::EventsConfig;
pub use http::HttpConfig;
pub use protection::ProtectionConfig;
pub use redis::RedisConfig;

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::http::{GraphqlOverHttp, SubscriptionsConfig};
use crate::rate_limit::RateLimitConfig;
use svc_auth::{AuthConfig, IdpConfig};
use svc_core::settings::{
    ConfigError, Count, Flag, Group as _, MAX_TIMEOUT, Maybe, Parsed, Path, Seconds, Text,
    Variables, Whether, check_text, or_never, settings, variable,
};
use svc_engine::limits::{LimitMode, Limits};
use svc_engine::response_cache::ResponseCacheConfig;
use svc_engine::upload::UploadConfig;
use svc_telemetry::metrics::MetricsConfig;
use svc_telemetry::request_log::LogConfig;
use svc_telemetry::security_log::SecurityLogConfig;

/// The environment that a service runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Environment {
    /// GraphiQL and introspection are on; an unreachable database gives empty results.
    #[default]
    Development,
    /// GraphiQL and introspection are off; an unreachable database is an error.
    Production,
}

settings! {
    /// The settings of a service, in groups. The documentation of each field names the environment
    /// variable that [`from_env`](Self::from_env) reads; the book lists all of them on one page.
    ///
    /// ```
    /// use svc::{DatabaseConfig, SvcConfig};
    ///
    /// let database = DatabaseConfig { pool_size: 4, ..DatabaseConfig::default() };
    /// let config = SvcConfig { database, ..SvcConfig::default() };
    /// assert_eq!(config.http.port, 8000);
    /// ```
    pub struct SvcConfig {
        /// Environment that the service runs in.
        environment: Environment = Environment::Development, ["SVC_ENVIRONMENT"], Parsed("development or production");
        /// Name that `/health` reports.
        service_name: String = "svc".to_owned(), ["SVC_SERVICE_NAME"], Text;
        /// Maximum duration of a request, including the time it waits for statements, connections
        /// and other services.
        request_timeout: Option<Duration> = Some(Duration::from_secs(60)), ["SVC_REQUEST_TIMEOUT"],
            or_never(Seconds(0..=86_400));
        /// Maximum time for an authorizer to decide. An authorizer that takes longer denies access.
        authorization_timeout: Duration = Duration::from_secs(5), ["SVC_AUTHORIZATION_TIMEOUT"], Seconds(1..=300);
        /// Draft of GraphQL over HTTP that determines the statuses of
        /// `application/graphql-response+json`.
        graphql_over_http: GraphqlOverHttp = GraphqlOverHttp::Draft2025, ["SVC_GRAPHQL_OVER_HTTP"], Parsed("2025 or 2026");
        groups {
            /// The database.
            database: DatabaseConfig;
            /// The events of subscriptions.
            events: EventsConfig;
            /// The schema.
            schema: SchemaConfig;
            /// The documents that clients may send.
            operations: OperationsConfig;
            /// The server and its connections.
            http: HttpConfig;
            /// The protection against hostile traffic.
            protection: ProtectionConfig;
            /// Authentication.
            auth: AuthConfig;
            /// The identity provider, if it authenticates users.
            idp: IdpConfig;
            /// Native accounts, if they authenticate users.
            accounts: AccountsConfig;
            /// The Redis that instances share.
            redis: RedisConfig;
            /// Subscriptions: their sockets and streams.
            subscriptions: SubscriptionsConfig;
            /// File uploads.
            uploads: UploadConfig;
            /// Rate limits.
            rate_limit: RateLimitConfig;
            /// The response cache.
            response_cache: ResponseCacheConfig;
            /// The log of requests and slow operations.
            log: LogConfig;
            /// The security log.
            security_log: SecurityLogConfig;
            /// Metrics.
            metrics: MetricsConfig;
            /// The limits on documents and pages.
            limits: Limits;
        }
    }
}

settings! {
    /// The settings of the schema; the field `schema` of [`SvcConfig`].
    pub struct SchemaConfig {
        /// Converts names to camel case: `created_at` becomes `createdAt`.
        auto_camel_case: bool = false, ["SVC_AUTO_CAMEL_CASE"], Flag;
        /// Allows clients to introspect the schema.
        introspection: Option<bool> = None, ["SVC_INTROSPECTION"], Whether("in development only");
        /// Enables filter operators that accept regular expressions: `matches`, `imatches`, and
        /// `pathExists`, whose paths can contain them.
        regular_expressions: bool = true, ["SVC_REGULAR_EXPRESSIONS"], Flag;
        /// Shows guards in the schema as directives, such as `@requiresRole`.
        guard_directives: bool = false, ["SVC_GUARD_DIRECTIVES"], Flag;
        /// Shows non-null fields that may fail as nullable, with `@semanticNonNull`: an error makes
        /// only the field null.
        semantic_non_null: bool = false, ["SVC_SEMANTIC_NON_NULL"], Flag;
    }
}

settings! {
    /// The settings of the documents that clients send; the field `operations` of [`SvcConfig`].
    pub struct OperationsConfig {
        /// Enables persisted queries: clients may send the hash of a document that they have sent
        /// before.
        persisted_queries: bool = true, ["SVC_PERSISTED_QUERIES"], Flag;
        /// Maximum size of the cache of documents, with their plans and SQL statements, in MiB.
        document_cache_size: u64 = 64, ["SVC_DOCUMENT_CACHE_SIZE"], Count(1..=1_048_576, "MiB");
        /// Folder of the files to register as operations.
        dir: Option<PathBuf> = None, ["SVC_OPERATIONS_DIR"], Maybe(Path);
        /// Manifest of trusted documents, or a folder of such manifests. The documents become
        /// registered operations.
        trusted_documents: Option<PathBuf> = None, ["SVC_TRUSTED_DOCUMENTS"], Maybe(Path);
        /// Maximum number of registered operations.
        max: u32 = 1_000, ["SVC_MAX_OPERATIONS"], Count(1..=100_000, "operations");
        /// Accepts only registered operations from clients, and introspection if it is enabled.
        registered_only: bool = false, ["SVC_REGISTERED_ONLY"], Flag;
        /// Treatment of unregistered documents if only registered operations are accepted:
        /// `enforce` rejects them, `warn` runs and logs them.
        registered_only_mode: LimitMode = LimitMode::Enforce, ["SVC_REGISTERED_ONLY_MODE"], Parsed("enforce or warn");
        /// Enables `POST /graphql/rust`, for operations that need no function of the program.
        rust_endpoint: bool = false, ["SVC_ENABLE_RUST_ENDPOINT"], Flag;
    }
}

impl SvcConfig {
    /// Reads the environment.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_env() -> Result<Self, ConfigError> {
        check_text(&Self::names())?;
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
        let config = Self::read(&variables)?;
        Ok(Self {
            limits: config.limits.fitting(&variables)?,
            ..config
        })
    }

    /// Whether this is development.
    pub fn is_development(&self) -> bool {
        self.environment == Environment::Development
    }

    /// Returns the time that a request may take; `None` for any time.
    pub(crate) fn request_limit(&self) -> Option<Duration> {
        self.request_timeout
            .filter(|time| !time.is_zero())
            .map(|time| time.min(MAX_TIMEOUT))
    }
}

impl FromStr for Environment {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.to_ascii_lowercase().as_str() {
            "development" => Ok(Self::Development),
            "production" => Ok(Self::Production),
            _ => Err(()),
        }
    }
}

impl std::fmt::Display for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Development => "development",
            Self::Production => "production",
        })
    }
}
