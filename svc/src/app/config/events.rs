//! The settings of events.

use super::database::Url;
use svc_core::settings::{Count, settings};

settings! {
    /// The settings of the events of subscriptions; the field `events` of
    /// [`SvcConfig`](crate::SvcConfig).
    pub struct EventsConfig {
        /// URL of the connection that listens to the database. Set it if the database URL leads to
        /// a pooler that assigns sessions per transaction. This URL must name the same database and
        /// bypass the pooler.
        database_url: Option<String> = None, ["SVC_EVENTS_DATABASE_URL"], Url;
        /// Maximum number of events queued for a subscriber. A subscription that falls too far
        /// behind ends with an error.
        queue: u32 = 100, ["SVC_EVENTS_QUEUE"], Count(1..=100_000, "events");
    }
}
