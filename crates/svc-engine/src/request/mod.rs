//! Requests: the input of the transport, the values created for each request, and the scope that
//! fields share.

mod context;
mod context_values;
mod data;
mod decision;
mod error_behavior;
mod missing_features;
mod parts;
mod scope;
mod session_variables;
mod transport;

pub use context::Context;
pub use data::RequestContext;
pub use session_variables::SessionVariables;
pub use svc_core::request_id::RequestId;
pub use transport::Transport;

pub use context_values::ContextValues;
pub use data::RequestDataMakers;
pub use decision::{Decision, FieldLimit, Spent, decided};
pub use error_behavior::ErrorBehavior;
pub use parts::{Hooked, PreparedOperation, RequestHook, RequestParts};
pub(crate) use scope::{Held, RequestScope, ScopeSeed};
pub use svc_core::request_id::HEADER as REQUEST_ID;
pub use transport::{AllowedOperations, is_query};
