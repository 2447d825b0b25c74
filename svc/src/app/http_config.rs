use std::time::Duration;

use super::ConfigError;
use super::config::{LONGEST_TIMEOUT, Variables};

/// The bounds of the server's connections; the field `http` of [`SvcConfig`](crate::SvcConfig). Each field says the
/// environment variable that sets it; times are whole seconds there.
///
/// ```
/// use std::time::Duration;
///
/// use svc::HttpConfig;
///
/// # async fn f(app: axum::Router) -> svc::Result<()> {
/// let config = HttpConfig { idle_timeout: Duration::from_secs(620), ..HttpConfig::default() };
/// svc::Server::bind(([127, 0, 0, 1], 0)).await?.http(config).run(app, std::future::pending()).await;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// `SVC_HTTP_MAX_CONNECTIONS`: the most connections that are open at once; further clients wait until one is
    /// closed. Default 10,000, and never more than the process may open files, less some for itself.
    pub max_connections: u32,
    /// `SVC_HTTP_HEADER_TIMEOUT`: how long a client may take to send the head of a request, the first one counted from
    /// the opening of its connection. Default 10 seconds.
    pub header_timeout: Duration,
    /// `SVC_HTTP_BODY_TIMEOUT`: how long a client may take to send the body of a GraphQL request. Default 30 seconds.
    pub body_timeout: Duration,
    /// `SVC_HTTP_WRITE_TIMEOUT`: how long a client may take for each 32 KiB of an answer. Default 30 seconds.
    pub write_timeout: Duration,
    /// `SVC_HTTP_IDLE_TIMEOUT`: how long a connection stays open without a request. It has to be longer than load
    /// balancers keep theirs. Default 75 seconds.
    pub idle_timeout: Duration,
    /// `SVC_HTTP_MAX_HEADER_SIZE`: the most bytes of a request's head, at least 8,192. Default 65,536.
    pub max_header_size: u32,
    /// `SVC_HTTP2_MAX_STREAMS`: the most requests at once on a connection of HTTP/2. Default 100.
    pub http2_max_streams: u32,
    /// `SVC_HTTP2_PING_INTERVAL`: how often a connection of HTTP/2 is asked whether its client is still there; 0 in the
    /// environment is never. Default 30 seconds.
    pub http2_ping_interval: Option<Duration>,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            max_connections: 10_000,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            max_header_size: 65_536,
            http2_max_streams: 100,
            http2_ping_interval: Some(Duration::from_secs(30)),
        }
    }
}

impl HttpConfig {
    pub(super) fn from_variables(variables: &Variables<'_>) -> Result<Self, ConfigError> {
        let default = Self::default();
        let time = |name: &str, default: Duration| {
            let seconds = variables.number(name, 1..=86_400, "seconds")?;
            Ok::<_, ConfigError>(seconds.map_or(default, Duration::from_secs))
        };
        let count = |name: &str, range, unit: &str, default: u32| {
            let count = variables.number(name, range, unit)?;
            Ok::<_, ConfigError>(count.map_or(default, |count| u32::try_from(count).unwrap_or(u32::MAX)))
        };
        let ping = variables.number("SVC_HTTP2_PING_INTERVAL", 0..=86_400, "seconds")?;
        Ok(Self {
            max_connections: count("SVC_HTTP_MAX_CONNECTIONS", 1..=1_000_000, "connections", default.max_connections)?,
            header_timeout: time("SVC_HTTP_HEADER_TIMEOUT", default.header_timeout)?,
            body_timeout: time("SVC_HTTP_BODY_TIMEOUT", default.body_timeout)?,
            write_timeout: time("SVC_HTTP_WRITE_TIMEOUT", default.write_timeout)?,
            idle_timeout: time("SVC_HTTP_IDLE_TIMEOUT", default.idle_timeout)?,
            max_header_size: count("SVC_HTTP_MAX_HEADER_SIZE", 8_192..=1_048_576, "bytes", default.max_header_size)?,
            http2_max_streams: count("SVC_HTTP2_MAX_STREAMS", 1..=10_000, "streams", default.http2_max_streams)?,
            http2_ping_interval: match ping {
                None => default.http2_ping_interval,
                Some(0) => None,
                Some(seconds) => Some(Duration::from_secs(seconds)),
            },
        })
    }

    /// With times that a clock can count.
    pub(super) fn bounded(self) -> Self {
        let bound = |time: Duration| time.clamp(Duration::from_millis(1), LONGEST_TIMEOUT);
        Self {
            header_timeout: bound(self.header_timeout),
            body_timeout: bound(self.body_timeout),
            write_timeout: bound(self.write_timeout),
            idle_timeout: bound(self.idle_timeout),
            http2_ping_interval: self.http2_ping_interval.map(bound),
            ..self
        }
    }
}
