//! The settings of the HTTP server.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use svc_core::settings::{Count, MAX_TIMEOUT, Maybe, Parsed, Seconds, or_never, settings};

settings! {
    /// The address of the server and the bounds of its connections; the field `http` of
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
        /// The address to listen on.
        host: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST), ["SVC_HOST"], Parsed("an IP address, such as 127.0.0.1, 0.0.0.0 or ::1");
        /// The port to listen on; 0 takes a free one.
        port: u16 = 8000, ["SVC_PORT"], Parsed("a port from 0 to 65535");
        /// The most connections that are open at once. The one that has been idle for longest is
        /// closed for each further client, of the address that has most; where none is idle,
        /// requests wait until a connection is closed. Never more than the process may open files,
        /// less some for itself.
        max_connections: u32 = 10_000, ["SVC_HTTP_MAX_CONNECTIONS"], Count(1..=1_000_000, "connections");
        /// The most connections of an address, or of a network of IPv6; half of all unless it is
        /// set, and at least 64. Where all of them are in use, further ones are closed.
        max_connections_per_address: Option<u32> = None, ["SVC_HTTP_MAX_CONNECTIONS_PER_ADDRESS"],
            Maybe(Count(1..=1_000_000, "connections"));
        /// The time for a client to send the head of a request, the first one counted from the
        /// opening of its connection.
        header_timeout: Duration = Duration::from_secs(10), ["SVC_HTTP_HEADER_TIMEOUT"], Seconds(1..=86_400);
        /// The time for a client to send the body of a GraphQL request.
        body_timeout: Duration = Duration::from_secs(30), ["SVC_HTTP_BODY_TIMEOUT"], Seconds(1..=86_400);
        /// The time for a client to take each 32 KiB of an answer.
        write_timeout: Duration = Duration::from_secs(30), ["SVC_HTTP_WRITE_TIMEOUT"], Seconds(1..=86_400);
        /// The time that a connection stays open without a request. It has to be longer than load
        /// balancers keep theirs.
        idle_timeout: Duration = Duration::from_secs(75), ["SVC_HTTP_IDLE_TIMEOUT"], Seconds(1..=86_400);
        /// The time that a request goes on whose client has closed its side and cannot be asked
        /// whether it still listens: in HTTP/1.0, or in the middle of an answer.
        half_close_timeout: Duration = Duration::from_secs(2), ["SVC_HTTP_HALF_CLOSE_TIMEOUT"], Seconds(0..=86_400);
        /// The most bytes of a request's head.
        max_header_size: u32 = 65_536, ["SVC_HTTP_MAX_HEADER_SIZE"], Count(8_192..=1_048_576, "bytes");
        /// The most requests at once on a connection of HTTP/2.
        http2_max_streams: u32 = 100, ["SVC_HTTP2_MAX_STREAMS"], Count(1..=10_000, "streams");
        /// The time between two pings of a connection of HTTP/2.
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
