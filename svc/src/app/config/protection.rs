//! The settings of the protection against hostile traffic.

use std::time::Duration;

use axum::http::HeaderName;

use svc_core::settings::{BETWEEN, Count, Flag, Kind, Origins, Seconds, items, settings};

settings! {
    /// The settings of the protection against hostile traffic; the field `protection` of
    /// [`SvcConfig`](crate::SvcConfig).
    ///
    /// ```
    /// use svc::{ProtectionConfig, SvcConfig};
    ///
    /// let protection = ProtectionConfig {
    ///     cors_origins: vec!["https://app.example.com".to_owned()],
    ///     cors_credentials: true,
    ///     ..ProtectionConfig::default()
    /// };
    /// let config = SvcConfig { protection, ..SvcConfig::default() };
    /// # drop(config);
    /// ```
    pub struct ProtectionConfig {
        /// Rejects requests that another site may have made a browser send (CSRF).
        csrf: bool = true, ["SVC_CSRF_PROTECTION"], Flag;
        /// Origins of other sites whose pages may read responses (CORS); `*` allows all origins.
        cors_origins: Vec<String> = Vec::new(), ["SVC_CORS_ORIGINS"], Origins;
        /// Request headers that pages of these origins may send, in addition to `Accept`,
        /// `Authorization`, `Content-Type`, `X-Request-Id` and the headers that CSRF protection
        /// accepts as proof of a preflight.
        cors_headers: Vec<HeaderName> = Vec::new(), ["SVC_CORS_HEADERS"], HeaderNames;
        /// Allows pages of these origins to send cookies.
        cors_credentials: bool = false, ["SVC_CORS_CREDENTIALS"], Flag;
        /// Time for which browsers cache the response to a preflight.
        cors_max_age: Duration = Duration::from_secs(7_200), ["SVC_CORS_MAX_AGE"], Seconds(0..=86_400);
        /// Gives each request an identifier, which its response and the log contain.
        request_ids: bool = true, ["SVC_REQUEST_IDS"], Flag;
        /// Compresses responses; needs the feature `compression`.
        compression: bool = false, ["SVC_COMPRESSION"], Flag;
        /// Minimum size of a response to compress, in bytes.
        compression_min_size: u16 = 1_024, ["SVC_COMPRESSION_MIN_SIZE"], Count(32..=65_535, "bytes");
        /// Maximum number of requests in a batch; 0 disables batches.
        batch_max: usize = 0, ["SVC_BATCH_MAX"], Count(0..=1_000, "requests");
        /// Rejects requests that exceed the capacity of the service, once requests have been queued
        /// for `SVC_SHED_AFTER`.
        load_shedding: bool = true, ["SVC_LOAD_SHEDDING"], Flag;
        /// Time for which requests beyond the capacity of the service may be queued, as in a burst.
        /// Once there has been a queue for this long, new requests are rejected.
        shed_after: Duration = Duration::from_secs(5), ["SVC_SHED_AFTER"], Seconds(0..=300);
        /// Maximum number of concurrent requests. Load shedding determines how many of them the
        /// service can handle.
        max_in_flight: usize = 256, ["SVC_MAX_IN_FLIGHT"], Count(1..=100_000, "requests");
        /// Maximum number of request bodies that arrive concurrently; at most half of
        /// `SVC_HTTP_MAX_CONNECTIONS`. Beyond it, each new body aborts the slowest one from the
        /// address that sends the most. Bodies that arrive together with their heads do not count.
        max_bodies: usize = 1_024, ["SVC_MAX_BODIES"], Count(1..=1_000_000, "bodies");
        /// Maximum number of request bodies that arrive concurrently from one address. Beyond it,
        /// each new body aborts the slowest one from that address.
        max_bodies_per_address: usize = 256, ["SVC_MAX_BODIES_PER_ADDRESS"], Count(1..=1_000_000, "bodies");
        /// Maximum size of all arriving request bodies in memory, in bytes; at least
        /// `SVC_LIMIT_BODY`. Beyond it, the largest body of the address with the most bytes is
        /// aborted.
        max_bodies_size: usize = 67_108_864, ["SVC_MAX_BODIES_SIZE"], Count(65_536..=1_099_511_627_776, "bytes");
        /// Maximum size of all responses in memory that clients have not read yet, in bytes. Beyond
        /// it, requests from clients with unread responses are rejected, and beyond twice this size
        /// all requests. Connections of clients that have read nothing for a second, or little for
        /// ten, are closed.
        max_unread_answers: usize = 268_435_456, ["SVC_MAX_UNREAD_ANSWERS"], Count(1_048_576..=1_099_511_627_776, "bytes");
    }
}

/// A list of header names, separated by commas.
struct HeaderNames;

impl Kind<Vec<HeaderName>> for HeaderNames {
    fn parse(&self, text: &str) -> Result<Vec<HeaderName>, String> {
        let read = |names: Vec<String>| names.iter().map(|name| name.parse().ok()).collect();
        items(text)
            .and_then(read)
            .ok_or_else(|| format!("it must be {}", Kind::<Vec<HeaderName>>::allowed(self)))
    }

    fn allowed(&self) -> String {
        format!("a list of header names, {BETWEEN}")
    }

    fn shown(&self, value: &Vec<HeaderName>) -> String {
        let names: Vec<_> = value.iter().map(HeaderName::as_str).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    }
}
