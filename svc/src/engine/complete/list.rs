//! Rows that are completed as they arrive, so that an answer needs no memory for them besides its own.

use tokio_postgres::Row;

use super::cells::Cells;
use super::rows::{RowNode, RowShape};
use super::{CompletedValue, PropagatedNull, Walk, value};
use crate::engine::execution_context::ExecutionContext;
use crate::engine::path::Path;
use crate::engine::plan::{OutType, PlanField};
use crate::postgres::{DbError, RowSink};

/// The room for an answer at first.
const ROOM: usize = 4 << 10;
/// The size from which on room is made for all rows that may come. What doubles needs three times its size while it is
/// moved; room that is not used costs nothing.
const LARGE: usize = 32 << 10;
/// The most room that is made at once, as a multiple of the answer's size: the first rows may be unlike the others.
const MOST: usize = 16;

/// The rows that answer a field whose type is a list.
pub(crate) struct RowList<'a> {
    walk: Walk<'a>,
    field: &'a PlanField,
    item: &'a OutType,
    shape: &'a RowShape,
    path: &'a Path<'a>,
    out: Vec<u8>,
    count: usize,
    /// The most rows there can be.
    limit: usize,
    /// A row was null where none may be.
    nulled: bool,
}

impl<'a> RowList<'a> {
    /// `None` when the field is not a list.
    pub(crate) fn new(
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        shape: &'a RowShape,
        path: &'a Path<'a>,
        limit: usize,
    ) -> Option<Self> {
        let OutType::List(item) = field.ty.nullable().0 else { return None };
        let mut out = Vec::with_capacity(ROOM);
        out.push(b'[');
        Some(Self { walk: Walk::new(cx), field, item, shape, path, out, count: 0, limit, nulled: false })
    }

    fn make_room(&mut self) {
        let length = self.out.len();
        if length < LARGE || self.out.capacity() - length > length / 8 {
            return;
        }
        let to_come = length / self.count.max(1) * self.limit.saturating_sub(self.count);
        self.out.reserve_exact((to_come + to_come / 8).clamp(length / 4, length * MOST));
    }

    /// The list, or null where that is allowed.
    ///
    /// # Errors
    /// When the view has changed since the statement was written.
    pub(crate) fn finish(mut self) -> Result<CompletedValue, DbError> {
        if self.walk.outdated {
            return Err(DbError::Changed);
        }
        self.out.push(b']');
        let result = if self.nulled { Err(PropagatedNull) } else { Ok(()) };
        let list = self.walk.end(self.field, &self.field.ty, self.path, (result, self.out));
        Ok(list.stop_null(&self.field.ty))
    }
}

impl RowSink for RowList<'_> {
    fn row(&mut self, row: Row) {
        if self.nulled {
            return;
        }
        self.make_room();
        if self.count > 0 {
            self.out.push(b',');
        }
        let node = RowNode::Row(Cells::Row(&row), self.shape);
        let path = self.path.index(self.count);
        self.nulled = value(&mut self.walk, self.field, self.item, &node, &path, &mut self.out).is_err();
        self.count += 1;
        // The rows of other lists come between those of this one.
        self.walk.writing.count(self.out.len());
    }

    fn restart(&mut self) {
        self.out.truncate(1);
        self.walk = Walk::new(self.walk.cx);
        (self.count, self.nulled) = (0, false);
    }
}
