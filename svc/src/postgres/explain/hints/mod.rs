//! Indexes that would help a statement, as its plans tell.
//!
//! PostgreSQL plans the statement with placeholders for its values, and as if reading a table whole, or sorting, were the
//! worst that could be done. What it then still filters or sorts by itself has no index that helps. Plans name the tables
//! behind views, so views need not be looked into.

mod candidate;
mod expression;
mod plan;
mod table;
mod token;

pub(super) use candidate::{Candidate, candidates};
pub(super) use table::Table;

/// An index that would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hint {
    /// The filter or the order that it would help.
    pub(crate) message: String,
    /// The statement that makes it.
    pub(crate) sql: String,
}
