//! Access to an operation: the identity of its request, and the fields that the request may use.

mod gated_fields;
mod identity;
mod root_fields;

pub use identity::Challenge;
