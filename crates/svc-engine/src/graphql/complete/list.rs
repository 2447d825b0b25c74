//! Rows that are completed as they arrive, so that only the response takes memory, not the rows.

use tokio_postgres::Row;

use super::cells::Cells;
use super::rows::{RowNode, RowShape};
use super::{CompletedValue, PropagatedNull, Walk, value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{OutType, PlanField};
use crate::graphql::response::Path;
use svc_postgres::{DbError, RowSink};

/// The initial capacity of the response buffer.
const ROOM: usize = 4 << 10;
/// From this size on, capacity is reserved for all rows that may still come. A buffer that doubles
/// needs three times its size while it is moved; unused capacity costs nothing.
const LARGE: usize = 32 << 10;
/// The maximum capacity reserved at once, as a multiple of the current size: the first rows may not
/// be typical.
const MAX_GROWTH: usize = 16;

/// The rows of a field with a list type.
pub(crate) struct RowList<'a> {
    walk: Walk<'a>,
    field: &'a PlanField,
    item: &'a OutType,
    shape: &'a RowShape,
    path: &'a Path<'a>,
    out: Vec<u8>,
    count: usize,
    /// The maximum number of rows.
    limit: usize,
    /// Whether a row was null although the item type is non-null.
    nulled: bool,
}

impl<'a> RowList<'a> {
    /// Returns `None` if the field is not a list.
    pub(crate) fn new(
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        shape: &'a RowShape,
        path: &'a Path<'a>,
        limit: usize,
    ) -> Option<Self> {
        let OutType::List(item) = field.ty.nullable().0 else {
            return None;
        };

        let mut out = Vec::with_capacity(ROOM);
        out.push(b'[');

        Some(Self {
            walk: Walk::new(cx),
            field,
            item,
            shape,
            path,
            out,
            count: 0,
            limit,
            nulled: false,
        })
    }

    fn make_room(&mut self) {
        let length = self.out.len();
        if length < LARGE || self.out.capacity() - length > length / 8 {
            return;
        }

        // The rows so far predict the size of the others. If they do not, a quarter at least keeps
        // the number of moves logarithmic.
        let to_come = length / self.count.max(1) * self.limit.saturating_sub(self.count);
        self.out
            .reserve_exact((to_come + to_come / 8).clamp(length / 4, length * MAX_GROWTH));
    }

    /// Returns the list, or null if the list became null and errors end at the field.
    ///
    /// # Errors
    /// If the view has changed since the statement was written.
    pub(crate) fn finish(mut self) -> Result<CompletedValue, DbError> {
        if self.walk.outdated {
            return Err(DbError::Changed);
        }

        let cx = self.walk.cx;
        self.out.push(b']');
        let result = if self.nulled {
            Err(PropagatedNull)
        } else {
            Ok(())
        };

        let list = self
            .walk
            .end(self.field, &self.field.ty, self.path, (result, self.out));

        Ok(list.stop_null(cx, self.field, &self.field.ty))
    }
}

impl RowSink for RowList<'_> {
    fn row(&mut self, row: Row) {
        // The statement still sends its remaining rows.
        if self.nulled {
            return;
        }

        self.make_room();
        if self.count > 0 {
            self.out.push(b',');
        }

        let node = RowNode::Row(Cells::Row(&row), self.shape);
        let path = self.path.index(self.count);
        self.nulled = value(
            &mut self.walk,
            self.field,
            self.item,
            &node,
            &path,
            &mut self.out,
        )
        .is_err();

        self.count += 1;

        // Rows of other lists may arrive between the rows of this list.
        self.walk.writing.count(self.out.len());
    }

    fn restart(&mut self) {
        self.out.truncate(1);

        // Dropping the walk gives its bytes back to the budget of the response.
        self.walk = Walk::new(self.walk.cx);
        (self.count, self.nulled) = (0, false);
    }
}
