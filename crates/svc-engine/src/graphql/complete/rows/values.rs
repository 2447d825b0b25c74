//! The values of one row, by the fields of a selection.

use super::{RowNode, RowShape, RowSource, RowSources, data};
use crate::graphql::complete::cells::Cells;
use crate::graphql::complete::column::Column;
use crate::graphql::complete::json::Slots;
use crate::graphql::plan::{Leaf, OutType, PlanField, Selection};
use crate::sql::ColumnForm;

/// The values of the fields of a selection in one row.
pub(super) struct RowValues<'n, 'a> {
    cells: &'n Cells<'a>,
    sources: Option<&'a RowSources>,
    /// The keys of `data` that the fields read.
    slots: Option<Slots<'a>>,
}

impl<'n, 'a> RowValues<'n, 'a> {
    #[inline(always)]
    pub(super) fn new(cells: &'n Cells<'a>, shape: &'a RowShape, selection: &Selection) -> Self {
        let sources = shape
            .sources
            .iter()
            .find(|sources| sources.type_index == selection.type_index);
        let Some(in_data) = sources.filter(|sources| !sources.keys.names.is_empty()) else {
            // Returned here, because the room for the values of `data` would be copied, used or not.
            return Self {
                cells,
                sources,
                slots: None,
            };
        };

        Self {
            cells,
            sources,
            slots: data(cells, shape).map(|data| data.slots(&in_data.keys)),
        }
    }

    /// Writes the field at `index` in the selection if it is a column with a value of its scalar or
    /// enum. Otherwise it writes nothing, and `value` has the rules. Most fields are such columns,
    /// and a node for each costs more than writing it.
    #[inline(always)]
    pub(super) fn write_column(&self, index: usize, field: &PlanField, out: &mut Vec<u8>) -> bool {
        let source = self.sources.and_then(|sources| sources.fields.get(index));
        let (Some(RowSource::Column(column, form)), (OutType::Leaf(leaf), _)) =
            (source, field.ty.nullable())
        else {
            return false;
        };

        // A document may be null, and a node id is made of more than its column.
        if matches!(form, ColumnForm::Json | ColumnForm::Jsonb) || matches!(leaf, Leaf::Node(_)) {
            return false;
        }

        let Some(bytes) = self.cells.get_inlined(*column) else {
            return false;
        };

        let start = out.len();
        let column = Column { form: *form, bytes };
        let written = match leaf {
            Leaf::Scalar(kind) => column.scalar(*kind, out),
            _ => column.leaf(leaf, out),
        };

        let is_written = written.is_ok();
        if !is_written {
            out.truncate(start);
        }

        is_written
    }

    /// Returns the value of the field at `index` in the selection.
    #[inline(always)]
    pub(super) fn node(&self, index: usize) -> RowNode<'a> {
        let slot = || {
            self.slots
                .as_ref()?
                .get(self.sources?.keys.of_field(index)?)
                .copied()
        };

        let source = self.sources.and_then(|sources| sources.fields.get(index));
        source.map_or(RowNode::Null, |source| {
            RowNode::field(self.cells, source, slot)
        })
    }
}
