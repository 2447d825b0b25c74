//! Events, delivered to subscribers.
//!
//! An [`EventSource`] supplies them: PostgreSQL's `NOTIFY` unless the program sets another. Each
//! process listens once, regardless of the number of subscribers.

#[cfg(feature = "redis")]
#[doc(inline)]
pub use svc_engine::events::RedisEvents;
#[doc(inline)]
pub use svc_engine::events::{EventSource, Events, InProcessEvents, SVC_NOTIFY, SourceEvent};
