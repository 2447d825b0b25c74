//! Events, delivered to subscribers.

mod event;
mod hub;
mod in_process;
mod not_heard;
mod outbox;
mod postgres;
mod queue;
#[cfg(feature = "redis")]
mod redis;
mod source;
mod source_wait;

#[cfg(feature = "redis")]
pub use self::redis::RedisEvents;
pub use in_process::InProcessEvents;
pub use queue::Events;
pub use source::{EventSource, SourceEvent};

pub use self::postgres::PostgresEvents;
pub(crate) use event::{Event, Operation, RowEvent};
pub use hub::Hub;
pub(crate) use not_heard::NotHeard;
pub(crate) use outbox::{MAX_WAITING, UnpublishedEvent};
pub(crate) use queue::{Accepts, Delivery, Feed, too_slow};
pub use source::EventListener;
pub use source_wait::hold_until_wait;

/// The SQL of `svc_notify`, a trigger function that notifies subscribers of changed rows; put it
/// into a migration.
pub const SVC_NOTIFY: &str = include_str!("svc_notify.sql");
