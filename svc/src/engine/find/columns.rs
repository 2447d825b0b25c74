//! From selected fields to the columns that a statement reads.

use crate::db::{ColumnForm, DbError, Select, SelectList, Source, quote, select_form};
use crate::engine::complete::{RowShape, RowSource};
use crate::engine::plan::{Leaf, OutType, PlanField, PlanKind};
use crate::schema::{Model, ScalarKind, TypeIndex, TypeKind};

/// Chooses the columns of a statement.
pub(super) struct Columns<'a> {
    source: &'a Source,
    list: Vec<String>,
    data: Option<(usize, ColumnForm)>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, list: Vec::new(), data: None }
    }

    /// The chosen columns, and where among them the `data` document is.
    pub(super) fn finish(self) -> (SelectList, Option<(usize, ColumnForm)>) {
        (SelectList(self.list), self.data)
    }

    /// Where the selected fields of a row come from.
    pub(super) fn shape(&mut self, model: &Model, field: &PlanField, row: TypeIndex) -> Result<RowShape, DbError> {
        let is_abstract = matches!(model.types[row].kind, TypeKind::Abstract(_));
        let type_name = if is_abstract { Some(self.stored("__typename", None)?) } else { None };
        let mut sources = Vec::new();
        for selection in field.children.iter() {
            let fields = selection.fields.iter().map(|field| self.source(field)).collect::<Result<_, _>>()?;
            sources.push((selection.type_index, fields));
        }
        Ok(RowShape { type_name, data: self.data, sources })
    }

    fn source(&mut self, field: &PlanField) -> Result<RowSource, DbError> {
        match field.kind {
            PlanKind::Stored { stored, .. } => self.stored(stored, Some(&field.ty)),
            _ => Ok(RowSource::Nothing),
        }
    }

    /// A column of the field's name and a fitting type, or else a key of `data`.
    pub(super) fn stored(&mut self, stored: &str, ty: Option<&OutType>) -> Result<RowSource, DbError> {
        let column = self.source.columns.get(stored);
        let fitting = column.and_then(|column| match ty {
            None => Some((Select::Text, ColumnForm::Text)),
            Some(ty) => match ty.nullable().0 {
                OutType::Leaf(Leaf::Scalar(kind)) => select_form(&column.name, Some(*kind)),
                OutType::Leaf(Leaf::Enum(_)) => select_form(&column.name, None),
                // Lists and objects arrive as JSON, whatever the column is.
                _ => select_form(&column.name, Some(ScalarKind::Json)).filter(|(_, form)| *form != ColumnForm::Text),
            },
        });
        if let Some((select, form)) = fitting {
            let column = format!("t.{}", quote(stored));
            return Ok(RowSource::Column(self.select(column, select), form));
        }
        if self.source.data().is_none() {
            return Err(DbError::NoSource { source_name: self.source.name.clone(), field: stored.to_owned() });
        }
        self.data();
        Ok(RowSource::Data)
    }

    fn data(&mut self) {
        if self.data.is_none()
            && let Some(column) = self.source.data()
        {
            let form = if column.name == "json" { ColumnForm::Json } else { ColumnForm::Jsonb };
            self.data = Some((self.select("t.data".to_owned(), Select::Plain), form));
        }
    }

    fn select(&mut self, column: String, select: Select) -> usize {
        let expression = match select {
            Select::Plain => column,
            Select::Text => format!("{column}::text"),
            Select::Json => format!("to_jsonb({column})"),
        };
        self.list.iter().position(|known| *known == expression).unwrap_or_else(|| {
            self.list.push(expression);
            self.list.len() - 1
        })
    }
}
