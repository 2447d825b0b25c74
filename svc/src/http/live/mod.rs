//! Connections that outlive their request: sockets, and streams over HTTP.
//!
//! All of them are in one list, which limits their number. One task checks the list periodically,
//! so that no connection needs its own timer.

#[cfg(feature = "auth")]
mod check_limits;
mod config;
mod list;
#[cfg(feature = "auth")]
mod live_user;
mod notes;
#[cfg(feature = "auth")]
mod tokens;
#[cfg(feature = "auth")]
mod user_check;
mod watch;
mod watched;
#[cfg(feature = "auth")]
mod watched_tokens;
#[cfg(feature = "auth")]
mod watched_user;

pub use config::SubscriptionsConfig;

pub(crate) use list::LiveConnections;
pub(super) use list::{Full, Seat};
#[cfg(feature = "auth")]
pub(super) use live_user::LiveUser;
pub(crate) use notes::LongLived;
pub(super) use notes::{Ending, Order};
#[cfg(feature = "auth")]
pub(super) use user_check::Checked;
