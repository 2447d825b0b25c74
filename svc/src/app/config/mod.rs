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

use crate::http::SubscriptionsConfig;
use crate::rate_limit::RateLimitConfig;
use svc_auth::{AuthConfig, IdpConfig};
use svc_core::settings::{
    ConfigError, Count, Flag, Group as _, MAX_TIMEOUT, Maybe, Parsed, Path, Seconds, Text,
    Variables, Whether, check_text, or_never, settings, variable,
};
use svc_engine::application::{LimitMode, Limits};
use svc_engine::response_cache::ResponseCacheConfig;
use svc_engine::upload::UploadConfig;
use svc_telemetry::metrics::MetricsConfig;
use svc_telemetry::request_log::LogConfig;
use svc_telemetry::security_log::SecurityLogConfig;

/// The environment that the service runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Environment {
    /// GraphiQL and introspection are on; a database that is unreachable gives empty results.
    #[default]
    Development,
    /// GraphiQL and introspection are off; a database that is unreachable is an error.
    Production,
}

settings! {
    /// The settings of a service, in groups. Each field says the environment variable that
    /// [`from_env`](Self::from_env) reads; the book has them in one table.
    ///
    /// ```
    /// use svc::{DatabaseConfig, SvcConfig};
    ///
    /// let database = DatabaseConfig { pool_size: 4, ..DatabaseConfig::default() };
    /// let config = SvcConfig { database, ..SvcConfig::default() };
    /// assert_eq!(config.http.port, 8000);
    /// ```
    pub struct SvcConfig {
        /// The environment that the service runs in.
        environment: Environment = Environment::Development, ["SVC_ENVIRONMENT"], Parsed("development or production");
        /// The name that `/health` says.
        service_name: String = "svc".to_owned(), ["SVC_SERVICE_NAME"], Text;
        /// The longest time of a request, whatever it waits for.
        request_timeout: Option<Duration> = Some(Duration::from_secs(60)), ["SVC_REQUEST_TIMEOUT"],
            or_never(Seconds(0..=86_400));
        /// The longest that an authorizer may take; one that takes longer denies.
        authorization_timeout: Duration = Duration::from_secs(5), ["SVC_AUTHORIZATION_TIMEOUT"], Seconds(1..=300);
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
            /// The protection on the open internet.
            protection: ProtectionConfig;
            /// Authentication: the provider of users.
            auth: AuthConfig;
            /// The identity provider, where that is the provider of users.
            idp: IdpConfig;
            /// Native accounts, where those are the provider of users.
            accounts: AccountsConfig;
            /// Redis, which instances share.
            redis: RedisConfig;
            /// Subscriptions: their sockets and streams.
            subscriptions: SubscriptionsConfig;
            /// Files that clients send.
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
        /// Whether `created_at` becomes `createdAt`.
        auto_camel_case: bool = false, ["SVC_AUTO_CAMEL_CASE"], Flag;
        /// Whether clients may read the schema.
        introspection: Option<bool> = None, ["SVC_INTROSPECTION"], Whether("in development only");
        /// Whether filters have operators that take regular expressions: `matches`, `imatches` and
        /// `pathExists`, whose paths can hold them.
        regular_expressions: bool = true, ["SVC_REGULAR_EXPRESSIONS"], Flag;
        /// Whether the schema shows guards as directives, such as `@requiresRole`.
        guard_directives: bool = false, ["SVC_GUARD_DIRECTIVES"], Flag;
    }
}

settings! {
    /// The settings of the documents that clients send; the field `operations` of [`SvcConfig`].
    pub struct OperationsConfig {
        /// Whether clients may send the hash of a document that they have sent before.
        persisted_queries: bool = true, ["SVC_PERSISTED_QUERIES"], Flag;
        /// The MiB that documents, their plans and the statements of those may take.
        document_cache_size: u64 = 64, ["SVC_DOCUMENT_CACHE_SIZE"], Count(1..=1_048_576, "MiB");
        /// A folder whose files are registered operations.
        dir: Option<PathBuf> = None, ["SVC_OPERATIONS_DIR"], Maybe(Path);
        /// A manifest of documents that clients may send, or a folder of such manifests; they are
        /// registered operations.
        trusted_documents: Option<PathBuf> = None, ["SVC_TRUSTED_DOCUMENTS"], Maybe(Path);
        /// The most registered operations that are kept.
        max: u32 = 1_000, ["SVC_MAX_OPERATIONS"], Count(1..=100_000, "operations");
        /// Whether clients may send nothing but registered operations.
        registered_only: bool = false, ["SVC_REGISTERED_ONLY"], Flag;
        /// The consequence for any other document where clients may send nothing but those: it is
        /// refused, or runs and is noted in the log.
        registered_only_mode: LimitMode = LimitMode::Enforce, ["SVC_REGISTERED_ONLY_MODE"], Parsed("enforce or warn");
        /// Whether there is a `POST /graphql/rust`, for operations that need no function of the
        /// program.
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
