//! The settings of events.

use super::database::Url;
use svc_core::settings::{Count, settings};

settings! {
    /// The settings of the events of subscriptions; the field `events` of
    /// [`SvcConfig`](crate::SvcConfig).
    pub struct EventsConfig {
        /// The URL by which the database is listened to. It is needed where the URL of the database
        /// leads to a pooler that lends a session for a transaction only, and names the same
        /// database behind it.
        database_url: Option<String> = None, ["SVC_EVENTS_DATABASE_URL"], Url;
        /// The most events that wait for a subscriber; one that is slower is dropped with an error.
        queue: u32 = 100, ["SVC_EVENTS_QUEUE"], Count(1..=100_000, "events");
    }
}
