//! From selected fields to what a statement reads of each row.

use super::read::Read;
use crate::db::{Catalogue, ColumnForm, DbError, Query, Select, Selected, Source, select_form};
use crate::engine::complete::{RowShape, RowSource};
use crate::engine::env::Env;
use crate::engine::plan::{Leaf, OutType, PlanField, PlanKind};
use crate::schema::{Model, ScalarKind, TypeIndex, TypeKind};

/// Chooses what is read of the rows of one view.
pub(super) struct Columns<'a> {
    model: &'a Model,
    catalogue: &'a Catalogue,
    source: &'a Source,
    list: Vec<Selected>,
    data: Option<(usize, ColumnForm)>,
}

impl<'a> Columns<'a> {
    /// Nothing is read yet of the rows of type `row`.
    pub(super) fn new(model: &'a Model, catalogue: &'a Catalogue, row: TypeIndex) -> Result<Self, DbError> {
        let name = model.source(row).ok_or_else(|| DbError::UnknownSource(model.types[row].path.clone()))?;
        Ok(Self { model, catalogue, source: catalogue.known(name)?, list: Vec::new(), data: None })
    }

    /// What was chosen, and where among it the `data` document is.
    pub(super) fn finish(self) -> (Vec<Selected>, Option<(usize, ColumnForm)>) {
        (self.list, self.data)
    }

    /// Reads one more value and gives its position.
    pub(super) fn add(&mut self, selected: Selected) -> usize {
        self.list.push(selected);
        self.list.len() - 1
    }

    /// Where the selected fields of a row come from.
    pub(super) fn shape(&mut self, env: &Env<'_>, field: &PlanField, row: TypeIndex) -> Result<RowShape, DbError> {
        let is_abstract = matches!(self.model.types[row].kind, TypeKind::Abstract(_));
        let type_name = if is_abstract { Some(self.stored("__typename", None)?) } else { None };
        let mut sources = Vec::new();
        for selection in field.children.iter() {
            let fields = selection.fields.iter().map(|field| self.source(env, field)).collect::<Result<_, _>>()?;
            sources.push((selection.type_index, fields));
        }
        Ok(RowShape { type_name, data: self.data, sources })
    }

    fn source(&mut self, env: &Env<'_>, field: &PlanField) -> Result<RowSource, DbError> {
        match field.kind {
            PlanKind::Stored { stored, .. } => self.stored(stored, Some(&field.ty)),
            PlanKind::Relation(relation) => {
                let (query, shape) = Read::relation(env, field, relation)?.query(env, self.catalogue, field)?;
                let at = self.add(Selected::Related(relation, Box::new(query)));
                let source = if relation.many { RowSource::Records } else { RowSource::Record };
                Ok(source(at, Box::new(shape)))
            }
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
            return Ok(RowSource::Column(self.column(stored, select), form));
        }
        let Some(data) = self.source.data() else {
            return Err(DbError::NoSource { source_name: self.source.name.clone(), field: stored.to_owned() });
        };
        if self.data.is_none() {
            let form = if data.name == "json" { ColumnForm::Json } else { ColumnForm::Jsonb };
            self.data = Some((self.column("data", Select::Plain), form));
        }
        Ok(RowSource::Data)
    }

    fn column(&mut self, name: &str, select: Select) -> usize {
        let same =
            |known: &Selected| matches!(known, Selected::Column(other, form) if other == name && *form == select);
        self.list.iter().position(same).unwrap_or_else(|| self.add(Selected::Column(name.to_owned(), select)))
    }
}

impl Read {
    /// What is read of the rows for the selection of `field`, and where its parts are.
    pub(super) fn query(
        self,
        env: &Env<'_>,
        catalogue: &Catalogue,
        field: &PlanField,
    ) -> Result<(Query, RowShape), DbError> {
        let mut columns = Columns::new(env.model, catalogue, self.row)?;
        let shape = columns.shape(env, field, self.row)?;
        Ok((self.reading(columns.finish().0), shape))
    }
}
