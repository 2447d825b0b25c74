//! Resolvers: the code that macros register, one call of it, and what it may return.

mod call;
mod code;
mod returns;

pub use call::{Call, Completed, Outcome};
pub(crate) use call::{ReturnedQuery, refused};
pub use code::{Method, Resolver};
pub use returns::Returns;
