//! Cached responses: where they are stored, how long they are valid, and which changes make them
//! stale.
//!
//! This module is independent of operations. The engine builds the key of a response and names the
//! types of rows that it was read from (`graphql/execute/cached_response/`).

mod changes;
mod config;
mod entry;
mod flights;
mod memory;
mod news;
mod responses;
#[cfg(feature = "redis")]
mod shared;
mod untold;

pub use config::ResponseCacheConfig;

pub(crate) use entry::Entry;
pub(crate) use responses::Found;
pub use responses::{Feeds, Responses};
#[cfg(feature = "redis")]
pub use shared::SharedResponses;
