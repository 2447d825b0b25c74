//! Rows of a statement.

use super::column::Column;
use super::json::Json;
use super::{Node, Nulled, Walk, key, typename, value};
use crate::db::{ColumnForm, Rows};
use crate::engine::env::Env;
use crate::engine::path::Path;
use crate::engine::plan::{Leaf, OutType, PlanField, PlanKind, Selection};
use crate::scalar::LeafError;
use crate::schema::{ScalarKind, Shape, TypeIndex};

/// Where the fields of a row come from.
#[derive(Debug)]
pub(crate) struct RowShape {
    /// The column with the name of the row's type, where rows have several.
    pub(crate) type_name: Option<RowSource>,
    /// The column that holds the `data` document, when a field needs it.
    pub(crate) data: Option<(usize, ColumnForm)>,
    /// By object type: a source for each field of its selection.
    pub(crate) sources: Vec<(TypeIndex, Vec<RowSource>)>,
}

/// Where one value of a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowSource {
    /// A column of the statement.
    Column(usize, ColumnForm),
    /// A key of `data`.
    Data,
    /// Nothing is stored, as for `__typename`.
    Nothing,
}

/// Completes the rows that answer a field.
pub(crate) fn write_rows(
    walk: &mut Walk<'_>,
    field: &PlanField,
    shape: &RowShape,
    rows: &Rows,
    answer: Shape,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Nulled> {
    let node = match answer {
        Shape::List => RowNode::All(rows, shape),
        Shape::Optional | Shape::One if rows.len() == 0 => RowNode::Null,
        Shape::Optional | Shape::One => RowNode::Row(rows, shape, 0),
    };
    value(walk, field, &field.ty, &node, path, out)
}

/// Rows, a row, or a value in one.
enum RowNode<'a> {
    All(&'a Rows, &'a RowShape),
    Row(&'a Rows, &'a RowShape, usize),
    Column(Column<'a>),
    Json(Json<'a>),
    Null,
}

impl<'a> RowNode<'a> {
    fn cell(rows: &'a Rows, row: usize, column: usize, form: ColumnForm) -> Self {
        match rows.cell(row, column) {
            None => Self::Null,
            Some(bytes) => {
                let column = Column { form, bytes };
                column.json().map_or(Self::Column(column), Self::Json)
            }
        }
    }
}

fn data<'a>(rows: &'a Rows, shape: &RowShape, row: usize) -> Option<Json<'a>> {
    let (column, form) = shape.data?;
    Column { form, bytes: rows.cell(row, column)? }.json()
}

impl Node for RowNode<'_> {
    fn is_null(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Json(json) => json.is_null(),
            _ => false,
        }
    }

    fn leaf(&self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        match self {
            Self::Column(column) => column.leaf(leaf, out),
            Self::Json(json) => json.leaf(leaf, out),
            _ => Err(LeafError("expected a scalar, found rows".to_owned())),
        }
    }

    fn each(&self, mut visit: impl FnMut(usize, Self) -> Result<(), Nulled>) -> Option<Result<(), Nulled>> {
        match self {
            Self::All(rows, shape) => {
                Some((0..rows.len()).try_for_each(|row| visit(row, RowNode::Row(rows, shape, row))))
            }
            Self::Json(json) => json.each(|index, item| visit(index, RowNode::Json(item))),
            _ => None,
        }
    }

    fn selection<'s>(&self, env: &Env<'_>, field: &'s PlanField) -> Result<&'s Selection, String> {
        match self {
            Self::Row(rows, shape, row) => {
                let Some(source) = shape.type_name else {
                    let index = shape.sources.first().map(|(index, _)| *index);
                    let selection = index.and_then(|index| field.children.of(index));
                    return selection.map(AsRef::as_ref).ok_or_else(|| "nothing is selected".to_owned());
                };
                let name =
                    type_name(rows, shape, *row, source).ok_or("the row does not name its type in `__typename`")?;
                let index = env.model.type_named(&name).map(|(index, _)| index);
                let selection = index.and_then(|index| field.children.of(index));
                selection.map(AsRef::as_ref).ok_or_else(|| format!("a row of type {name:?} cannot stand here"))
            }
            Self::Json(json) => json.selection(env, field),
            _ => Err("expected an object".to_owned()),
        }
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Nulled> {
        let (rows, shape, row) = match self {
            Self::Row(rows, shape, row) => (rows, shape, *row),
            Self::Json(json) => return json.fields(walk, selection, path, out),
            _ => return Err(Nulled),
        };
        let slots = data(rows, shape, row).map(|json| json.slots(selection)).unwrap_or_default();
        let sources = shape.sources.iter().find(|(index, _)| *index == selection.type_index);
        let sources = sources.map(|(_, sources)| sources.as_slice()).unwrap_or_default();
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            if matches!(field.kind, PlanKind::Typename) {
                typename(out, selection);
                continue;
            }
            let node = match sources.get(index) {
                Some(RowSource::Column(column, form)) => RowNode::cell(rows, row, *column, *form),
                Some(RowSource::Data) => slots.get(index).copied().map_or(RowNode::Null, RowNode::Json),
                _ => RowNode::Null,
            };
            value(walk, field, &field.ty, &node, &path.key(&field.key), out)?;
        }
        Ok(())
    }
}

/// The cells of one row, for reading the row back as JSON.
pub(crate) struct RowColumn<'a> {
    pub(crate) rows: &'a Rows,
    pub(crate) row: usize,
    pub(crate) data: Option<(usize, ColumnForm)>,
}

impl RowColumn<'_> {
    /// A stored value as JSON; enums and scalars of users as they are stored.
    ///
    /// # Errors
    /// When the column's value has no JSON form.
    pub(crate) fn value(
        &self,
        stored: &str,
        source: RowSource,
        ty: Option<&OutType>,
    ) -> Result<serde_json::Value, LeafError> {
        let json = match source {
            RowSource::Nothing => None,
            RowSource::Data => self.document().and_then(|document| document.get(stored)),
            RowSource::Column(column, form) => {
                let Some(bytes) = self.rows.cell(self.row, column) else { return Ok(serde_json::Value::Null) };
                let column = Column { form, bytes };
                match (column.json(), ty) {
                    (Some(json), _) => Some(json),
                    (None, Some(OutType::Leaf(Leaf::Scalar(kind)))) if !matches!(kind, ScalarKind::Custom(_)) => {
                        return written(column, *kind);
                    }
                    (None, _) => return written(column, ScalarKind::String),
                }
            }
        };
        let Some(json) = json else { return Ok(serde_json::Value::Null) };
        serde_json::from_slice(json.bytes()).map_err(|error| LeafError(error.to_string()))
    }

    fn document(&self) -> Option<Json<'_>> {
        let (column, form) = self.data?;
        Column { form, bytes: self.rows.cell(self.row, column)? }.json()
    }
}

/// A column's value through the one writer of scalars.
fn written(column: Column<'_>, kind: ScalarKind) -> Result<serde_json::Value, LeafError> {
    let mut out = Vec::new();
    column.leaf(&Leaf::Scalar(kind), &mut out)?;
    serde_json::from_slice(&out).map_err(|error| LeafError(error.to_string()))
}

/// The name of a row's type.
fn type_name(rows: &Rows, shape: &RowShape, row: usize, source: RowSource) -> Option<String> {
    match source {
        RowSource::Column(column, _) => String::from_utf8(rows.cell(row, column)?.to_vec()).ok(),
        RowSource::Data => data(rows, shape, row)?.get("__typename")?.text().map(Into::into),
        RowSource::Nothing => None,
    }
}
