//! Checks of the arguments of calls, apart from the functions and the rows.

use std::sync::Arc;

use super::{Param, Statement};

/// A statement that converts the arguments of a call to the types of their parameters. If
/// PostgreSQL rejects it, a value of the client is the reason, and not the function or a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    sql: Arc<str>,
    /// The number of values that precede its own in the statement of the call.
    before: usize,
    /// The number of its values.
    count: usize,
}

impl Probe {
    /// A probe whose placeholders begin with `$1`.
    pub(crate) fn new(sql: String, before: usize, count: usize) -> Self {
        Self {
            sql: sql.into(),
            before,
            count,
        }
    }

    /// Returns the statement, with its values taken from the call's statement. PostgreSQL plans it
    /// for them, and so converts them even where no row is read.
    pub(super) fn statement(&self, params: &[Param]) -> Option<Statement> {
        let own = params.get(self.before..)?.get(..self.count)?;
        Some(Statement {
            replan: true,
            ..Statement::new(&*self.sql, own.to_vec())
        })
    }

    /// Its approximate size in bytes.
    pub(super) fn weight(&self) -> usize {
        size_of::<Self>() + 16 + self.sql.len()
    }
}
