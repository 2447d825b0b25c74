//! Connections that live on after their request: sockets, and streams over HTTP.
//!
//! All of them are in one list, which bounds their number. One task looks at the list now and then, so that a
//! connection needs no timer of its own.

mod config;
mod list;
mod notes;
#[cfg(feature = "auth")]
mod tokens;
mod watch;
mod watched;
#[cfg(feature = "auth")]
mod watched_tokens;

pub use config::SubscriptionsConfig;

pub(crate) use list::LiveConnections;
pub(super) use list::{Full, Seat};
pub(crate) use notes::LongLived;
pub(super) use notes::{Ending, Order};
