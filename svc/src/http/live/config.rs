//! The settings of sockets and streams.

use std::time::Duration;

use svc_core::settings::{Count, MAX_TIMEOUT, Origins, Seconds, or_never, settings};

settings! {
    /// The bounds of WebSockets and of streams of events; the field `subscriptions` of
    /// [`SvcConfig`](crate::SvcConfig).
    ///
    /// A stream over HTTP counts as a socket with one operation.
    pub struct SubscriptionsConfig {
        /// The most sockets and streams that are open at once; further ones are answered with 503.
        max_connections: u32 = 8_000, ["SVC_SUBSCRIPTION_MAX_CONNECTIONS"], Count(1..=1_000_000, "connections");
        /// The most of them that one user may have.
        max_connections_per_user: u32 = 100, ["SVC_SUBSCRIPTION_MAX_CONNECTIONS_PER_USER"],
            Count(1..=1_000_000, "connections");
        /// The most of them that clients who are no users may have at one address; 0 for any
        /// number, where the service does not learn the addresses of clients.
        max_connections_per_address: u32 = 200, ["SVC_SUBSCRIPTION_MAX_CONNECTIONS_PER_ADDRESS"],
            Count(0..=1_000_000, "connections");
        /// The most operations at once on a socket.
        max_operations: u32 = 100, ["SVC_SUBSCRIPTION_MAX_OPERATIONS"], Count(1..=10_000, "operations");
        /// The most bytes of a message that a client sends.
        max_message_size: u32 = 131_072, ["SVC_SUBSCRIPTION_MAX_MESSAGE_SIZE"], Count(1_024..=16_777_216, "bytes");
        /// The most messages that a client may send within a second.
        messages_per_second: u32 = 100, ["SVC_SUBSCRIPTION_MESSAGES_PER_SECOND"], Count(1..=100_000, "messages");
        /// The time for a client to send `connection_init`.
        init_timeout: Duration = Duration::from_secs(10), ["SVC_SUBSCRIPTION_INIT_TIMEOUT"], Seconds(1..=3_600);
        /// The time between two pings of a socket, and between two signs of life on a stream. A
        /// socket on which nothing has come from one ping to the next is closed.
        ping_interval: Duration = Duration::from_secs(30), ["SVC_SUBSCRIPTION_PING_INTERVAL"], Seconds(1..=3_600);
        /// The time that a socket stays open without an operation.
        idle_timeout: Option<Duration> = None, ["SVC_SUBSCRIPTION_IDLE_TIMEOUT"], or_never(Seconds(0..=86_400));
        /// The time for a client to take a message; a socket whose client takes longer is closed.
        write_timeout: Duration = Duration::from_secs(15), ["SVC_SUBSCRIPTION_WRITE_TIMEOUT"], Seconds(1..=3_600);
        /// The origins of other sites whose pages may open sockets; `*` stands for all of them.
        /// Pages of the service's own origin always may.
        allowed_origins: Vec<String> = Vec::new(), ["SVC_SUBSCRIPTION_ORIGINS"], Origins;
    }
}

impl SubscriptionsConfig {
    /// With times that a clock can count.
    pub(super) fn bounded(self) -> Self {
        let bound = |time: Duration| time.clamp(Duration::from_millis(1), MAX_TIMEOUT);
        Self {
            init_timeout: bound(self.init_timeout),
            ping_interval: bound(self.ping_interval),
            idle_timeout: self.idle_timeout.map(bound),
            write_timeout: bound(self.write_timeout),
            ..self
        }
    }
}
