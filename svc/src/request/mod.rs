//! Requests: what the transport hands over, the values that are made for each, and the scope that fields share.

mod context;
mod context_values;
mod data;
mod parts;
mod scope;
mod session_variables;

pub use context::Context;
pub use data::RequestContext;
pub use parts::Transport;
pub use session_variables::SessionVariables;

pub(crate) use context_values::ContextValues;
pub(crate) use data::RequestDataMakers;
pub(crate) use parts::{AllowedOperations, RequestParts};
pub(crate) use scope::{Held, RequestScope};
