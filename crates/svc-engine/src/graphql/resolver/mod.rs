//! Resolvers: the code that macros register, a call of it, and its return types.

mod call;
mod code;
mod events;
mod returns;

pub use call::Call;
pub(crate) use call::{ReturnedQuery, refused};
pub(crate) use code::BatchMethod;
pub use code::{Method, Resolver};
pub use events::{EventStream, Events, events, events_of_result};
#[doc(inline)]
pub use svc_core::schema::{Completed, Outcome, Returns, ReturnsBatch};
