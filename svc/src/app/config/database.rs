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
        /// The database, as `postgres://user:password@host:port/name`.
        url: Option<String> = None, ["SVC_DATABASE_URL", "DATABASE_URL"], Url;
        /// The most connections of each pool.
        pool_size: u32 = 8, ["SVC_DATABASE_POOL_SIZE"], Count(1..=10_000, "connections");
        /// The longest wait for a connection.
        pool_timeout: Duration = Duration::from_secs(5), ["SVC_DATABASE_POOL_TIMEOUT"], Seconds(1..=3_600);
        /// The most connections that one request uses at the same time for its reads and calls.
        request_connections: Option<u32> = None, ["SVC_DATABASE_REQUEST_CONNECTIONS"], Otherwise(Count(1..=10_000, "connections"), "half of the pool");
        /// The bytes of SQL that each connection for planned reads keeps prepared; 0 keeps none.
        statement_cache: u32 = 256 << 10, ["SVC_DATABASE_STATEMENT_CACHE"], Count(0..=1 << 30, "bytes");
        /// Whether what functions and SQL of the program's own set for the session is undone before
        /// the next request has the connection. Unless it is given, calls of functions go without
        /// where no function of the database can set any.
        reset_session: Option<bool> = None, ["SVC_DATABASE_RESET_SESSION"], Whether("where it may be needed");
        /// The number of times that a called function, a write to a table or the SQL of a
        /// registered mutation is run again when PostgreSQL has undone it because of others that
        /// ran at the same time: a deadlock, or a transaction that could not be serialized.
        retries: u32 = 0, ["SVC_DATABASE_RETRIES"], Count(0..=10, "retries");
        /// The time after which PostgreSQL cancels a statement.
        query_timeout: Duration = Duration::from_secs(30), ["SVC_QUERY_TIMEOUT"], Seconds(1..=86_400);
        /// The time between two looks at whether views and functions have changed.
        catalogue_poll: Option<Duration> = Some(Duration::from_millis(500)), ["SVC_CATALOGUE_POLL"],
            or_never(Milliseconds(0..=3_600_000));
        /// Whether a production service with session variables starts although policies of
        /// row-level security do not bind it; the log says which.
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
