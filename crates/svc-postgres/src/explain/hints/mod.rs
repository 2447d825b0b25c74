//! Suggests indexes for a statement, based on its plans.
//!
//! PostgreSQL plans the statement with placeholders for its values, and as if sequential scans and
//! sorts were extremely expensive. A filter or sort that remains in such a plan has no index that
//! helps. Plans name the tables behind views, so the views themselves need no inspection.

mod candidate;
mod expression;
mod plan;
mod table;
mod token;

pub(super) use candidate::{Candidate, candidates};
pub(super) use table::Table;

/// An index that would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The filter or the order that it would speed up.
    pub message: String,
    /// The statement that creates it.
    pub sql: String,
}
