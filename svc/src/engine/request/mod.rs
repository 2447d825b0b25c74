//! Requests: what the transport hands over, the values that are made for each, and the scope that fields share.

mod context;
mod parts;
mod scope;

pub use context::RequestContext;
pub use parts::Transport;

pub(crate) use context::RequestDataMakers;
pub(crate) use parts::{AllowedOperations, RequestParts};
pub(crate) use scope::{Held, RequestScope};
