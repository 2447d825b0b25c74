//! The settings of the database.

use std::time::Duration;

use svc_core::settings::{
    ConfigError, Count, Flag, Kind, MAX_TIMEOUT, Milliseconds, Otherwise, Seconds, Variables,
    Whether, or_never, settings,
};
use svc_postgres::{ConnectConfig, Variable};

settings! {
    /// The settings of the database; the field `database` of [`SvcConfig`](crate::SvcConfig).
    pub struct DatabaseConfig {
        /// URL of the database, as `postgres://user:password@host:port/name`.
        url: Option<String> = None, ["SVC_DATABASE_URL", "DATABASE_URL"], Url;
        /// Maximum number of connections in each pool.
        pool_size: u32 = 8, ["SVC_DATABASE_POOL_SIZE"], Count(1..=10_000, "connections");
        /// Maximum time to wait for a connection of a pool.
        pool_timeout: Duration = Duration::from_secs(5), ["SVC_DATABASE_POOL_TIMEOUT"], Seconds(1..=3_600);
        /// Maximum number of connections that one request uses concurrently for its reads and
        /// calls.
        request_connections: Option<u32> = None, ["SVC_DATABASE_REQUEST_CONNECTIONS"], Otherwise(Count(1..=10_000, "connections"), "half of the pool");
        /// Maximum size of the prepared statements that each connection of svc's own pool caches,
        /// in bytes of their SQL; 0 disables the cache.
        statement_cache: u32 = 256 << 10, ["SVC_DATABASE_STATEMENT_CACHE"], Count(0..=1 << 30, "bytes");
        /// Resets session state that functions or the program's SQL have set, before the next
        /// request uses the connection. If unset, the reset after function calls is omitted if no
        /// function of the database can change session state.
        reset_session: Option<bool> = None, ["SVC_DATABASE_RESET_SESSION"], Whether("if it may be needed");
        /// Maximum number of retries of a function call, a write to a table, the SQL of a
        /// registered mutation or an atomic operation without functions of the program that
        /// PostgreSQL has rolled back because of concurrent transactions (a deadlock or a
        /// serialization failure).
        retries: u32 = 0, ["SVC_DATABASE_RETRIES"], Count(0..=10, "retries");
        /// Time after which PostgreSQL cancels a statement.
        query_timeout: Duration = Duration::from_secs(30), ["SVC_QUERY_TIMEOUT"], Seconds(1..=86_400);
        /// Interval between checks for changed views and functions.
        catalogue_poll: Option<Duration> = Some(Duration::from_millis(500)), ["SVC_CATALOGUE_POLL"],
            or_never(Milliseconds(0..=3_600_000));
        /// Starts a production service with session variables even if row-level security policies
        /// do not bind it; the log names those policies.
        allow_unbound_policies: bool = false, ["SVC_ALLOW_UNBOUND_POLICIES"], Flag;
    }
}

impl DatabaseConfig {
    pub(in crate::app) fn pool_limit(&self) -> Duration {
        self.pool_timeout.min(MAX_TIMEOUT)
    }

    /// Returns the time between two looks whether views have changed; `None` is never.
    pub(in crate::app) fn poll(&self) -> Option<Duration> {
        self.catalogue_poll
            .filter(|time| !time.is_zero())
            .map(|time| time.min(MAX_TIMEOUT))
    }
}

/// A database URL. Its password is never shown, and nothing of one that cannot be read: nobody
/// knows which part of that is the password.
pub(super) struct Url;

impl Kind<Option<String>> for Url {
    fn parse(&self, text: &str) -> Result<Option<String>, String> {
        Ok(Some(text.to_owned()))
    }
    fn allowed(&self) -> String {
        "a database URL".to_owned()
    }
    fn shown(&self, value: &Option<String>) -> String {
        value
            .as_deref()
            .map_or_else(|| "none".to_owned(), ConnectConfig::shown)
    }
    fn debugged(&self, value: &Option<String>) -> String {
        format!("{:?}", value.as_deref().map(ConnectConfig::shown))
    }
    fn read(
        &self,
        variables: &Variables<'_>,
        names: &[&'static str],
    ) -> Result<Option<Option<String>>, ConfigError> {
        let Some((name, url)) = variables.first(names) else {
            return Ok(None);
        };
        read_url(name, &url, variables.0)?;
        Ok(Some(Some(url)))
    }
}

/// Reads a database URL; what it leaves open comes from libpq's environment variables.
pub(in crate::app) fn read_url(
    name: &str,
    url: &str,
    variable: Variable<'_>,
) -> Result<ConnectConfig, ConfigError> {
    ConnectConfig::parse(url, variable)
        .map_err(|bad| ConfigError::new(name, "***", &bad.to_string()))
}
