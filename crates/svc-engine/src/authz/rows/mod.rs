//! The row policies: the rows and masked fields that a request may read, through any field.

mod decision;
mod policies;
mod request_rules;

pub use decision::RowDecision;
pub use policies::{RowPolicies, RowPolicy};
pub(crate) use request_rules::RequestRules;
