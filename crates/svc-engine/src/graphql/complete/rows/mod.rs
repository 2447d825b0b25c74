//! Rows of a statement.

mod page;
mod values;

use page::write_page_fields;
pub(super) use page::{Completed, PageWriter, item_type};
pub(crate) use page::{EdgeShape, PageNode, PageShape, address};
use values::RowValues;

use tokio_postgres::Row;

use super::cells::{Cells, Records};
use super::column::Column;
use super::json::Json;
use super::{Node, PropagatedNull, Walk, key, typename, value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::heap_size;
use crate::graphql::plan::{Keys, Leaf, OutType, PlanField, PlanKind, Selection};
use crate::graphql::response::Path;
use crate::sql::ColumnForm;
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::scalar::LeafError;
use svc_core::schema::{ScalarKind, TypeIndex};
use svc_postgres::Oid;

/// The sources of a row's fields.
#[derive(Debug)]
pub(crate) struct RowShape {
    /// The column with the name of the row's type, if rows can have several types.
    pub(crate) type_name: Option<RowSource>,
    /// The column with the `data` document, if a field needs it.
    pub(crate) data: Option<(usize, ColumnForm)>,
    /// The sources for each object type.
    pub(crate) sources: Vec<RowSources>,
    /// The types of all values read, as PostgreSQL sends them in records.
    pub(crate) types: Box<[Oid]>,
}

/// The sources of the fields in rows of one object type.
#[derive(Debug)]
pub(crate) struct RowSources {
    pub(crate) type_index: TypeIndex,
    /// One source for each field of the selection.
    pub(crate) fields: Vec<RowSource>,
    /// The keys of `data` that the fields read.
    pub(crate) keys: Keys,
}

impl RowSources {
    pub(crate) fn new(selection: &Selection, fields: Vec<RowSource>) -> Self {
        let in_data = |(field, source): (&PlanField, &RowSource)| match source {
            RowSource::Data => field.stored(),
            _ => None,
        };

        let keys = Keys::new(selection.fields.iter().zip(&fields).map(in_data));
        Self {
            type_index: selection.type_index,
            fields,
            keys,
        }
    }
}

/// The source of one value of a row.
#[derive(Debug)]
pub(crate) enum RowSource {
    /// A column of the statement.
    Column(usize, ColumnForm),
    /// A key of `data`.
    Data,
    /// A column with the record of a related row.
    Record(usize, Box<RowShape>),
    /// A column with a list of records of related rows.
    Records(usize, Box<RowShape>),
    /// An object made of columns of the same row.
    Same(Box<RowShape>),
    /// A page made of columns of the same row.
    Page(Box<PageShape>),
    /// A value that is an error if a second column is true.
    Guarded(Box<Guarded>),
    /// No stored value, as for `__typename`.
    Nothing,
}

/// A source whose value is an error if a second column is true.
#[derive(Debug)]
pub(crate) struct Guarded {
    /// The column that is true if the value is an error.
    pub(crate) is_bad: usize,
    pub(crate) source: RowSource,
    pub(crate) error: Error,
}

impl RowShape {
    /// Its size in bytes.
    pub(crate) fn weight(&self) -> usize {
        let below = |source: &RowSource| match source {
            RowSource::Record(_, shape) | RowSource::Records(_, shape) | RowSource::Same(shape) => {
                shape.weight()
            }
            RowSource::Page(shape) => shape.weight(),
            _ => 0,
        };

        let sources = self.sources.iter().map(|of_type| {
            // A key borrows its text from the schema, and each field has the index of its key.
            let fields = heap_size::slice::<RowSource>(of_type.fields.len())
                + heap_size::slice::<(&str, usize)>(of_type.fields.len());
            size_of::<RowSources>() + fields + of_type.fields.iter().map(below).sum::<usize>()
        });

        heap_size::ALLOCATION + size_of::<Self>() + sources.sum::<usize>()
    }
}

/// Completes a row, or null if there is none, as the value of a field.
pub(crate) fn write_row(
    walk: &mut Walk<'_>,
    field: &PlanField,
    shape: &RowShape,
    row: Option<&Row>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    let node = row.map_or(RowNode::Null, |row| RowNode::Row(Cells::Row(row), shape));
    value(walk, field, &field.ty, &node, path, out)
}

/// Rows, a row, or a value in one.
#[derive(Debug, Clone)]
pub(crate) enum RowNode<'a> {
    Records(Records<'a>, &'a RowShape),
    Row(Cells<'a>, &'a RowShape),
    Page(Box<PageNode<'a>>, &'a PageShape),
    Column(Column<'a>),
    Json(Json<'a>),
    Failed(&'a Error),
    Null,
    /// The view has changed since the statement was written.
    Outdated,
}

impl<'a> RowNode<'a> {
    /// A record, or null.
    pub(crate) fn record(bytes: Option<&'a [u8]>, shape: &'a RowShape) -> Self {
        let Some(bytes) = bytes else {
            return Self::Null;
        };
        Cells::record(bytes, &shape.types).map_or(Self::Outdated, |cells| Self::Row(cells, shape))
    }

    /// A page.
    #[inline(never)]
    pub(crate) fn page(cells: &Cells<'a>, shape: &'a PageShape) -> Self {
        shape
            .page(cells)
            .map_or(Self::Outdated, |page| Self::Page(Box::new(page), shape))
    }

    fn cell(bytes: Option<&'a [u8]>, form: ColumnForm) -> Self {
        match bytes {
            None => Self::Null,
            Some(bytes) => {
                let column = Column { form, bytes };
                column.json().map_or(Self::Column(column), Self::Json)
            }
        }
    }

    /// Returns the value of a field of a row.
    #[inline(always)]
    fn field(
        cells: &Cells<'a>,
        source: &'a RowSource,
        slot: impl FnOnce() -> Option<Json<'a>>,
    ) -> Self {
        match source {
            RowSource::Column(column, form) => Self::cell(cells.get(*column), *form),
            RowSource::Data => slot().map_or(Self::Null, Self::Json),
            RowSource::Record(column, shape) => Self::record(cells.get(*column), shape),
            RowSource::Records(column, shape) => Self::Records(
                cells.get(*column).map(Records::new).unwrap_or_default(),
                shape,
            ),
            RowSource::Same(shape) => Self::Row(cells.clone(), shape),
            RowSource::Page(shape) => Self::page(cells, shape),
            RowSource::Guarded(guarded) => Self::guarded(cells, guarded, slot),
            RowSource::Nothing => Self::Null,
        }
    }

    /// Returns the value of a guarded field, which only `careful` statements have. Never inlined,
    /// to keep this code out of the path of all other rows.
    #[cold]
    #[inline(never)]
    fn guarded(
        cells: &Cells<'a>,
        guarded: &'a Guarded,
        slot: impl FnOnce() -> Option<Json<'a>>,
    ) -> Self {
        match cells.get(guarded.is_bad) {
            Some([1]) => Self::Failed(&guarded.error),
            _ => Self::field(cells, &guarded.source, slot),
        }
    }
}

fn data<'a>(cells: &Cells<'a>, shape: &RowShape) -> Option<Json<'a>> {
    document(cells, shape.data)
}

fn document<'a>(cells: &Cells<'a>, data: Option<(usize, ColumnForm)>) -> Option<Json<'a>> {
    let (column, form) = data?;
    Column {
        form,
        bytes: cells.get(column)?,
    }
    .json()
}

impl Node for RowNode<'_> {
    fn failure(&self) -> Option<&Error> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Json(json) => json.is_null(),
            _ => false,
        }
    }

    fn is_outdated(&self) -> bool {
        matches!(self, Self::Outdated)
    }

    fn leaf(&self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        match self {
            Self::Column(column) => column.leaf(leaf, out),
            Self::Json(json) => json.leaf(leaf, out),
            _ => Err(LeafError("expected a scalar, found rows".to_owned())),
        }
    }

    fn each(
        &self,
        mut visit: impl FnMut(usize, Self) -> Result<(), PropagatedNull>,
    ) -> Option<Result<(), PropagatedNull>> {
        match self {
            Self::Records(records, shape) => {
                let rows = records.values().map(|record| {
                    // `ARRAY(SELECT ROW(…))` has no null elements, so a null shows that the view
                    // has changed.
                    record.map_or(RowNode::Outdated, |record| {
                        RowNode::record(Some(record), shape)
                    })
                });
                Some(
                    rows.enumerate()
                        .try_for_each(|(index, row)| visit(index, row)),
                )
            }
            Self::Json(json) => json.each(|index, item| visit(index, RowNode::Json(item))),
            _ => None,
        }
    }

    fn selection<'s>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'s PlanField,
    ) -> Result<&'s Selection, String> {
        match self {
            Self::Row(cells, shape) => {
                let Some(source) = &shape.type_name else {
                    let index = shape.sources.first().map(|sources| sources.type_index);
                    let selection = index.and_then(|index| field.children.of(index));
                    return selection
                        .map(AsRef::as_ref)
                        .ok_or_else(|| "nothing is selected".to_owned());
                };

                let name = type_name(cells, shape, source)
                    .ok_or("the row does not name its type in `__typename`")?;
                let index = cx.model.type_named(&name).map(|(index, _)| index);
                let selection = index.and_then(|index| field.children.of(index));

                selection.map(AsRef::as_ref).ok_or_else(|| {
                    "the row's `__typename` names no type that can stand here".to_owned()
                })
            }
            Self::Page(..) => {
                let selection = field.children.iter().next();
                selection
                    .map(AsRef::as_ref)
                    .ok_or_else(|| "nothing is selected".to_owned())
            }
            Self::Json(json) => json.selection(cx, field),
            _ => Err("expected an object".to_owned()),
        }
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let (cells, shape) = match self {
            Self::Row(cells, shape) => (cells, *shape),
            Self::Page(page, shape) => {
                return write_page_fields(walk, (page, shape), selection, path, out);
            }
            Self::Json(json) => return json.fields(walk, selection, path, out),
            _ => return Err(PropagatedNull),
        };

        let values = RowValues::new(cells, shape, selection);
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            if matches!(field.kind, PlanKind::Typename) {
                typename(out, selection);
                continue;
            }
            if values.write_column(index, field, out) {
                walk.bounded(out)?;
                continue;
            }
            let node = values.node(index);
            value(walk, field, &field.ty, &node, &path.key(&field.key), out)?;
        }

        Ok(())
    }
}

/// The cells of one row, to read the row as JSON.
pub(crate) struct RowColumn<'a> {
    pub(crate) cells: Cells<'a>,
    pub(crate) data: Option<(usize, ColumnForm)>,
}

impl<'a> RowColumn<'a> {
    /// Returns a stored value as it was read.
    pub(crate) fn node(&self, stored: &str, source: &'a RowSource) -> RowNode<'a> {
        RowNode::field(&self.cells, source, || {
            document(&self.cells, self.data)?.get(stored)
        })
    }

    /// Returns a stored value as JSON; enums and custom scalars in their stored form.
    ///
    /// # Errors
    /// If the column's value has no JSON form.
    pub(crate) fn value(
        &self,
        stored: &str,
        source: &RowSource,
        ty: Option<&OutType>,
    ) -> Result<ExactJson, LeafError> {
        let json = match source {
            RowSource::Data => {
                document(&self.cells, self.data).and_then(|document| document.get(stored))
            }
            RowSource::Column(column, form) => {
                let Some(bytes) = self.cells.get(*column) else {
                    return Ok(ExactJson::Null);
                };

                let column = Column { form: *form, bytes };
                match (column.json(), ty) {
                    (Some(json), _) => Some(json),
                    (None, Some(OutType::Leaf(Leaf::Scalar(kind))))
                        if !matches!(kind, ScalarKind::Custom(_)) =>
                    {
                        return written(column, *kind);
                    }
                    (None, _) => return written(column, ScalarKind::String),
                }
            }
            _ => None,
        };

        let json = match json {
            Some(json) if !json.is_null() => json,
            _ => return Ok(ExactJson::Null),
        };

        match ty {
            // In the canonical form sent to clients, so that a row has the same values on both
            // paths.
            Some(OutType::Leaf(leaf @ Leaf::Scalar(kind)))
                if !matches!(kind, ScalarKind::Custom(_) | ScalarKind::Json) =>
            {
                read_back(|out| json.leaf(leaf, out))
            }
            _ => parsed(json.bytes()),
        }
    }
}

/// Returns a column's value as written by the common scalar writer.
fn written(column: Column<'_>, kind: ScalarKind) -> Result<ExactJson, LeafError> {
    read_back(|out| column.leaf(&Leaf::Scalar(kind), out))
}

fn read_back(
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), LeafError>,
) -> Result<ExactJson, LeafError> {
    let mut out = Vec::new();
    write(&mut out)?;
    parsed(&out)
}

fn parsed(json: &[u8]) -> Result<ExactJson, LeafError> {
    let text = std::str::from_utf8(json).map_err(|error| LeafError(error.to_string()))?;
    ExactJson::read(text).map_err(|error| LeafError(error.to_string()))
}

/// Returns the name of a row's type.
fn type_name(cells: &Cells<'_>, shape: &RowShape, source: &RowSource) -> Option<String> {
    match source {
        RowSource::Column(column, _) => String::from_utf8(cells.get(*column)?.to_vec()).ok(),
        RowSource::Data => data(cells, shape)?
            .get("__typename")?
            .text()
            .map(Into::into),
        _ => None,
    }
}
