//! The rows that a policy leaves to a root field.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Filter;
use crate::schema::{Model, TypeIndex};

/// A filter of a policy: which rows a root field may read.
#[derive(Debug)]
pub(crate) struct RowFilter {
    /// The type of the root field's rows; `None` for a field that answers with something else, of which all reads are
    /// filtered.
    row: Option<TypeIndex>,
    pub(crate) filter: Filter,
    /// The columns whose values the policy fixes; nobody else may.
    pub(crate) columns: Vec<String>,
    /// Whether a read was filtered.
    is_applied: AtomicBool,
}

impl RowFilter {
    /// A filter of a field with rows of a type, or of one without rows.
    pub(crate) fn new(row: Option<TypeIndex>, filter: Filter, columns: Vec<String>) -> Self {
        Self { row, filter, columns, is_applied: AtomicBool::new(false) }
    }

    /// Whether reads of a type are filtered: of the field's own, of those that belong to it or that it belongs to, and of
    /// those over the same views.
    pub(crate) fn covers(&self, model: &Model, row: TypeIndex) -> bool {
        let Some(own) = self.row.filter(|own| *own != row) else { return true };
        let rows_of = |index: TypeIndex| model.possible_types(index).iter().copied().chain([index]);
        let is_same = |one: TypeIndex, other: TypeIndex| {
            one == other || (model.source(one).is_some() && model.source(one) == model.source(other))
        };
        rows_of(own).any(|one| rows_of(row).any(|other| is_same(one, other)))
    }

    /// Notes that a read is filtered.
    pub(crate) fn apply(&self) {
        self.is_applied.store(true, Ordering::Relaxed);
    }

    /// Whether it is of a field without rows, and nothing was read that it could filter.
    pub(crate) fn is_lost(&self) -> bool {
        self.row.is_none() && !self.is_applied.load(Ordering::Relaxed)
    }
}
