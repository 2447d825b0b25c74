//! The settings of sockets and streams.

use std::time::Duration;

use svc_core::settings::{Count, MAX_TIMEOUT, Origins, Seconds, or_never, settings};

settings! {
    /// The limits on WebSockets and event streams; the field `subscriptions` of
    /// [`SvcConfig`](crate::SvcConfig).
    ///
    /// A stream over HTTP counts as a socket with one operation.
    pub struct SubscriptionsConfig {
        /// Maximum number of open sockets and streams; further ones get 503.
        max_connections: u32 = 8_000, ["SVC_SUBSCRIPTION_MAX_CONNECTIONS"], Count(1..=1_000_000, "connections");
        /// Maximum number of open sockets and streams per user.
        max_connections_per_user: u32 = 100, ["SVC_SUBSCRIPTION_MAX_CONNECTIONS_PER_USER"],
            Count(1..=1_000_000, "connections");
        /// Maximum number of open sockets and streams of clients without a user, per address; 0
        /// disables this limit, for a service that cannot determine the addresses of its clients.
        max_connections_per_address: u32 = 200, ["SVC_SUBSCRIPTION_MAX_CONNECTIONS_PER_ADDRESS"],
            Count(0..=1_000_000, "connections");
        /// Maximum number of concurrent operations on a socket.
        max_operations: u32 = 100, ["SVC_SUBSCRIPTION_MAX_OPERATIONS"], Count(1..=10_000, "operations");
        /// Maximum size of a message from a client, in bytes.
        max_message_size: u32 = 131_072, ["SVC_SUBSCRIPTION_MAX_MESSAGE_SIZE"], Count(1_024..=16_777_216, "bytes");
        /// Maximum number of messages per second from a client.
        messages_per_second: u32 = 100, ["SVC_SUBSCRIPTION_MESSAGES_PER_SECOND"], Count(1..=100_000, "messages");
        /// Maximum time for a client to send `connection_init`.
        init_timeout: Duration = Duration::from_secs(10), ["SVC_SUBSCRIPTION_INIT_TIMEOUT"], Seconds(1..=3_600);
        /// Interval between pings on a socket, and between keep-alive messages on a stream. A
        /// socket that receives nothing between two pings is closed.
        ping_interval: Duration = Duration::from_secs(30), ["SVC_SUBSCRIPTION_PING_INTERVAL"], Seconds(1..=3_600);
        /// Time after which a socket without an operation is closed.
        idle_timeout: Option<Duration> = None, ["SVC_SUBSCRIPTION_IDLE_TIMEOUT"], or_never(Seconds(0..=86_400));
        /// Maximum time for a client to read a message; the socket is closed if it takes longer.
        write_timeout: Duration = Duration::from_secs(15), ["SVC_SUBSCRIPTION_WRITE_TIMEOUT"], Seconds(1..=3_600);
        /// Maximum interval between two checks of the user of a socket or stream, if the user can
        /// change before the token expires, or has a session in a store. The checks of a connection
        /// are up to a quarter earlier.
        user_interval: Duration = Duration::from_secs(60), ["SVC_SUBSCRIPTION_USER_INTERVAL"], Seconds(1..=3_600);
        /// Time after which sockets and streams are closed whose users cannot be checked, because a
        /// provider or a store is unavailable.
        user_outage: Duration = Duration::from_secs(300), ["SVC_SUBSCRIPTION_USER_OUTAGE"], Seconds(1..=3_600);
        /// Maximum time for which a socket or stream stays open whose user comes from a layer of
        /// the program: its client reconnects, and the layer identifies the user again. Connections
        /// end up to a quarter earlier, so that they do not end together.
        user_max_age: Option<Duration> = Some(Duration::from_secs(3_600)), ["SVC_SUBSCRIPTION_USER_MAX_AGE"],
            or_never(Seconds(0..=604_800));
        /// Origins of other sites whose pages may open sockets; `*` allows all origins. Pages of
        /// the service's own origin are always allowed.
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
            user_interval: bound(self.user_interval),
            user_outage: bound(self.user_outage),
            user_max_age: self.user_max_age.filter(|age| !age.is_zero()).map(bound),
            ..self
        }
    }
}
