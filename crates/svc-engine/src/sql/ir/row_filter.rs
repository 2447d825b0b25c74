//! The row filter that a policy applies to a root field.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::sql::Filter;
use svc_core::schema::{Model, Resolved, TypeIndex};

/// A policy's filter on the rows that a root field may read.
#[derive(Debug)]
pub struct RowFilter {
    /// The type of the root field's rows; `None` for a field that returns no rows, where the filter
    /// applies to all reads.
    row: Option<TypeIndex>,
    pub(crate) filter: Filter,
    /// The columns whose values the policy fixes; no other code may set them.
    pub(crate) columns: Vec<String>,
    /// Whether a read has been filtered.
    is_applied: AtomicBool,
}

impl RowFilter {
    /// A filter for a field with rows of a type, or for a field without rows.
    pub(crate) fn new(row: Option<TypeIndex>, filter: Filter, columns: Vec<String>) -> Self {
        Self {
            row,
            filter,
            columns,
            is_applied: AtomicBool::new(false),
        }
    }

    /// Whether the filter applies to reads of a type: the field's own type, its interfaces, unions
    /// or members, and types over the same views.
    pub(crate) fn covers(&self, model: &Model, row: TypeIndex) -> bool {
        let Some(own) = self.row.filter(|own| *own != row) else {
            return true;
        };

        let rows_of = |index: TypeIndex| model.possible_types(index).iter().copied().chain([index]);
        let is_same = |one: TypeIndex, other: TypeIndex| {
            one == other
                || (model.source(one).is_some() && model.source(one) == model.source(other))
        };

        // Two types over one view read the same rows, so a filter on one of them must hold for the
        // other.
        rows_of(own).any(|one| rows_of(row).any(|other| is_same(one, other)))
    }

    /// Records that a read has been filtered.
    pub(crate) fn apply(&self) {
        // `Relaxed` suffices: no other data depends on the flag, and it is read after the function
        // has returned.
        self.is_applied.store(true, Ordering::Relaxed);
    }

    /// Whether the field returns no rows and has read nothing that the filter could apply to.
    pub(crate) fn is_lost(&self) -> bool {
        self.row.is_none() && !self.is_applied.load(Ordering::Relaxed)
    }

    /// Whether a function has returned rows and has read none that the filter applies to. Null and
    /// an empty list reveal no row, so a function may return them without a read.
    pub(crate) fn is_bypassed(&self, returned: Resolved<'_>) -> bool {
        let has_rows = match returned {
            Resolved::Null | Resolved::Failed(_) => false,
            Resolved::List(items) => !items.is_empty(),
            _ => true,
        };
        self.row.is_some() && has_rows && !self.is_applied.load(Ordering::Relaxed)
    }
}
