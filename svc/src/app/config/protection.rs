//! The settings of the protection on the open internet.

use std::time::Duration;

use axum::http::HeaderName;

use svc_core::settings::{BETWEEN, Count, Flag, Kind, Origins, Seconds, items, settings};

settings! {
    /// The settings of the protection on the open internet; the field `protection` of
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
        /// Whether requests are refused that another site may have had a browser send.
        csrf: bool = true, ["SVC_CSRF_PROTECTION"], Flag;
        /// The origins of other sites whose pages may read answers; `*` stands for all of them.
        cors_origins: Vec<String> = Vec::new(), ["SVC_CORS_ORIGINS"], Origins;
        /// The headers that those pages may send besides `Accept`, `Authorization`, `Content-Type`,
        /// `X-Request-Id` and those with which clients prove a preflight.
        cors_headers: Vec<HeaderName> = Vec::new(), ["SVC_CORS_HEADERS"], HeaderNames;
        /// Whether their requests may carry cookies.
        cors_credentials: bool = false, ["SVC_CORS_CREDENTIALS"], Flag;
        /// The time for which browsers keep the answer to a preflight.
        cors_max_age: Duration = Duration::from_secs(7_200), ["SVC_CORS_MAX_AGE"], Seconds(0..=86_400);
        /// Whether each request has an identifier, which its answer and the log say.
        request_ids: bool = true, ["SVC_REQUEST_IDS"], Flag;
        /// Whether answers are compressed; needs the feature `compression`.
        compression: bool = false, ["SVC_COMPRESSION"], Flag;
        /// The fewest bytes of an answer that is compressed.
        compression_min_size: u16 = 1_024, ["SVC_COMPRESSION_MIN_SIZE"], Count(32..=65_535, "bytes");
        /// The most requests of a batch; 0 refuses batches.
        batch_max: usize = 0, ["SVC_BATCH_MAX"], Count(0..=1_000, "requests");
        /// Whether requests beyond what the service can take are refused, once they have waited for
        /// too long.
        load_shedding: bool = true, ["SVC_LOAD_SHEDDING"], Flag;
        /// The time for which more requests may wait than the service can take, as in a burst. Once
        /// they have waited for so long, those that come are refused.
        shed_after: Duration = Duration::from_secs(5), ["SVC_SHED_AFTER"], Seconds(0..=300);
        /// The most requests that run at once; load shedding finds out how many of them are too
        /// many.
        max_in_flight: usize = 256, ["SVC_MAX_IN_FLIGHT"], Count(1..=100_000, "requests");
        /// The most request bodies that are still arriving at once, and never more than half of
        /// `SVC_HTTP_MAX_CONNECTIONS`. Beyond, the slowest one of the address that sends most is
        /// given up for each that begins. Bodies that arrive with their heads do not count.
        max_bodies: usize = 1_024, ["SVC_MAX_BODIES"], Count(1..=1_000_000, "bodies");
        /// The most of them of one address. Beyond, the slowest one of the address is given up for
        /// each that begins.
        max_bodies_per_address: usize = 256, ["SVC_MAX_BODIES_PER_ADDRESS"], Count(1..=1_000_000, "bodies");
        /// The most bytes of such bodies in memory, and never less than `SVC_LIMIT_BODY`. Beyond,
        /// the largest one of the address that has most is given up.
        max_bodies_size: usize = 67_108_864, ["SVC_MAX_BODIES_SIZE"], Count(65_536..=1_099_511_627_776, "bytes");
        /// The most bytes of answers that wait in memory until their clients take them. Beyond,
        /// requests of clients who keep some are refused (all requests beyond twice as many), and
        /// those lose their connections who have taken nothing for a second, or little for ten.
        max_unread_answers: usize = 268_435_456, ["SVC_MAX_UNREAD_ANSWERS"], Count(1_048_576..=1_099_511_627_776, "bytes");
    }
}

/// A list of names of headers, separated by commas.
struct HeaderNames;

impl Kind<Vec<HeaderName>> for HeaderNames {
    fn parse(&self, text: &str) -> Result<Vec<HeaderName>, String> {
        let read = |names: Vec<String>| names.iter().map(|name| name.parse().ok()).collect();
        items(text)
            .and_then(read)
            .ok_or_else(|| format!("it must be {}", Kind::<Vec<HeaderName>>::allowed(self)))
    }

    fn allowed(&self) -> String {
        format!("a list of names of headers, {BETWEEN}")
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
