//! The settings of the HTTP server.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use svc_core::settings::{Count, MAX_TIMEOUT, Maybe, Parsed, Seconds, or_never, settings};

settings! {
    /// The address of the server and the limits on its connections; the field `http` of
    /// [`SvcConfig`](crate::SvcConfig).
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
    pub struct HttpConfig {
        /// IP address to listen on.
        host: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST), ["SVC_HOST"], Parsed("an IP address, such as 127.0.0.1, 0.0.0.0 or ::1");
        /// Port to listen on; 0 selects a free one.
        port: u16 = 8000, ["SVC_PORT"], Parsed("a port from 0 to 65535");
        /// Maximum number of open connections. Beyond it, each new client replaces the connection
        /// that has been idle for longest, from the address with the most connections. If no
        /// connection is idle, requests wait until one is closed. The maximum is lowered if the
        /// process may not open enough files.
        max_connections: u32 = 10_000, ["SVC_HTTP_MAX_CONNECTIONS"], Count(1..=1_000_000, "connections");
        /// Maximum number of open connections per client address or IPv6 network; by default half
        /// of `SVC_HTTP_MAX_CONNECTIONS`, but at least 64. If all of them are in use, new ones are
        /// closed.
        max_connections_per_address: Option<u32> = None, ["SVC_HTTP_MAX_CONNECTIONS_PER_ADDRESS"],
            Maybe(Count(1..=1_000_000, "connections"));
        /// Maximum time to receive the head of a request. For the first request, it starts when the
        /// connection is opened.
        header_timeout: Duration = Duration::from_secs(10), ["SVC_HTTP_HEADER_TIMEOUT"], Seconds(1..=86_400);
        /// Maximum time to receive the body of a GraphQL request.
        body_timeout: Duration = Duration::from_secs(30), ["SVC_HTTP_BODY_TIMEOUT"], Seconds(1..=86_400);
        /// Maximum time for a client to read each 32 KiB of a response.
        write_timeout: Duration = Duration::from_secs(30), ["SVC_HTTP_WRITE_TIMEOUT"], Seconds(1..=86_400);
        /// Time after which a connection without a request is closed. It must be longer than the
        /// idle timeout of a load balancer in front.
        idle_timeout: Duration = Duration::from_secs(75), ["SVC_HTTP_IDLE_TIMEOUT"], Seconds(1..=86_400);
        /// Time that a request continues after its client has closed its side of the connection, if
        /// svc cannot check whether the client still listens: over HTTP/1.0, or after the response
        /// has started.
        half_close_timeout: Duration = Duration::from_secs(2), ["SVC_HTTP_HALF_CLOSE_TIMEOUT"], Seconds(0..=86_400);
        /// Maximum size of the head of a request, in bytes.
        max_header_size: u32 = 65_536, ["SVC_HTTP_MAX_HEADER_SIZE"], Count(8_192..=1_048_576, "bytes");
        /// Maximum number of concurrent requests on an HTTP/2 connection.
        http2_max_streams: u32 = 100, ["SVC_HTTP2_MAX_STREAMS"], Count(1..=10_000, "streams");
        /// Interval between pings on an HTTP/2 connection.
        http2_ping_interval: Option<Duration> = Some(Duration::from_secs(30)), ["SVC_HTTP2_PING_INTERVAL"],
            or_never(Seconds(0..=86_400));
    }
}

impl HttpConfig {
    /// With times that a clock can count.
    pub(in crate::app) fn bounded(self) -> Self {
        let bound = |time: Duration| time.clamp(Duration::from_millis(1), MAX_TIMEOUT);
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
