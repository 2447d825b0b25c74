//! Requests: the input of the transport, the values created for each request, and the scope that
//! fields share.

mod context;
mod context_values;
mod data;
mod decision;
mod parts;
mod scope;
mod session_variables;
mod transport;

pub(crate) use crate::request_id::RequestId;
pub use context::Context;
pub use data::RequestContext;
pub use session_variables::SessionVariables;
pub use transport::Transport;

pub(crate) use crate::request_id::HEADER as REQUEST_ID;
pub(crate) use context_values::ContextValues;
pub(crate) use data::RequestDataMakers;
pub(crate) use decision::{Decision, FieldLimit, Spent, decided};
pub(crate) use parts::{Hooked, PreparedOperation, RequestHook, RequestParts};
pub(crate) use scope::{Held, RequestScope, ScopeSeed};
pub(crate) use transport::AllowedOperations;
