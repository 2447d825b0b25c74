//! Answers that are kept: where they lie, until when they hold, and what makes them old.
//!
//! This knows nothing of operations. The engine makes the key of an answer and names the types of rows that it was read
//! from (`engine/execute/response_cache/`).

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
pub(crate) use responses::{Feeds, Found, Responses};
#[cfg(feature = "redis")]
pub(crate) use shared::SharedResponses;
