//! The validation of documents: their limits, and the rules of GraphQL.

mod limits;
mod merge_cost;
mod nesting;
pub(super) mod rules;
