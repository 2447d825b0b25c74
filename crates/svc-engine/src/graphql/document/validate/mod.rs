//! The validation of documents: their limits, and the rules of GraphQL.

mod limit_check;
mod merge_cost;
mod nesting;
pub(super) mod rules;
