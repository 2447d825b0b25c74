//! Converts selected fields to the select list of a statement.

mod page;

pub(super) use page::{Wanted, edge_shapes, needs_whole_rows, row_fields, row_shapes, size};

use std::sync::Arc;

use super::aggregate::aggregate_query;
use super::computed_column::{selected_call, unfit};
use super::read::Read;
use crate::graphql::complete::{Guarded, PageShape, RowShape, RowSource, RowSources};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Leaf, NodeType, OutType, PlanField, PlanKind, node_id};
use crate::sql::{
    CheckedText, ColumnForm, ComputedColumnCall, Query, Select, Selected, Subquery, Views,
    record_types, select_form,
};
use svc_core::Error;
use svc_core::schema::{Model, Relation, ScalarKind, Shape, TypeExpr, TypeIndex, TypeKind};
use svc_postgres::{Catalog, ColumnType, DbError, FunctionSpec, Source};

/// Builds the select list for the rows of one view.
pub(super) struct Columns<'a> {
    views: Views<'a>,
    row: TypeIndex,
    source: &'a Source,
    list: Vec<Selected>,
    data: Option<(usize, ColumnForm)>,
    /// Whether keys of `data` are selected separately.
    apart: bool,
}

impl<'a> Columns<'a> {
    /// Creates an empty select list for rows of type `row`.
    pub(super) fn new(views: Views<'a>, row: TypeIndex) -> Result<Self, DbError> {
        let Views { model, catalog, .. } = views;
        let name = model
            .source(row)
            .ok_or_else(|| DbError::UnknownSource(model.types[row].path.clone()))?;

        Ok(Self {
            views,
            row,
            source: catalog.known(name)?,
            list: Vec::new(),
            data: None,
            apart: false,
        })
    }

    /// Returns the selected values, and the position and form of the `data` document among them.
    pub(super) fn finish(self) -> (Vec<Selected>, Option<(usize, ColumnForm)>) {
        (self.list, self.data)
    }

    /// Selects one more value and returns its position.
    pub(super) fn add(&mut self, selected: Selected) -> usize {
        self.list.push(selected);
        self.list.len() - 1
    }

    /// Selects the fields of a row and returns their sources.
    pub(super) fn shape(
        &mut self,
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        row: TypeIndex,
    ) -> Result<RowShape, DbError> {
        let is_abstract = matches!(self.views.model.types[row].kind, TypeKind::Abstract(_));
        let type_name = if is_abstract {
            Some(self.stored("__typename", None)?)
        } else {
            None
        };

        self.apart = !is_abstract && self.takes_apart(field);
        let mut sources = Vec::new();
        for selection in field.children.iter() {
            let fields = selection
                .fields
                .iter()
                .map(|field| self.source(cx, field))
                .collect::<Result<_, _>>()?;
            sources.push(RowSources::new(selection, fields));
        }

        Ok(RowShape {
            type_name,
            data: self.data,
            sources,
            types: Box::default(),
        })
    }

    /// Whether reading the few needed keys of `data` costs PostgreSQL less than writing the whole
    /// document as text. With a second key, PostgreSQL unpacks the document a second time, or
    /// builds it a second time in a view. This is worth it only for small values of a table.
    fn takes_apart(&self, field: &PlanField) -> bool {
        // The whole document may already be selected, and PostgreSQL would parse a `json` document
        // again for each key.
        if self.data.is_some() || self.source.data().is_none_or(|data| data.name != "jsonb") {
            return false;
        }

        let fields = field
            .children
            .iter()
            .flat_map(|selection| &selection.fields);
        let read = fields.filter_map(|field| Some((field.stored()?, &field.ty)));
        let mut keys: Vec<_> = read
            .filter(|(stored, ty)| self.fitting(stored, Some(ty)).is_none())
            .collect();
        keys.sort_unstable_by_key(|(stored, _)| *stored);
        keys.dedup_by_key(|(stored, _)| *stored);
        let is_small = |(_, ty): &(_, &OutType)| matches!(ty.nullable().0, OutType::Leaf(_));

        keys.len() == 1 || (keys.len() == 2 && self.source.is_table && keys.iter().all(is_small))
    }

    fn source(
        &mut self,
        cx: &ExecutionContext<'_>,
        field: &PlanField,
    ) -> Result<RowSource, DbError> {
        match field.kind {
            PlanKind::Stored { stored, .. }
                if cx.careful && self.views.catalog.has_unchecked_texts() =>
            {
                self.checked(stored, &field.ty)
            }
            PlanKind::Stored { stored, .. } => self.stored(stored, Some(&field.ty)),
            PlanKind::Relation(relation) => {
                let source = self.related(cx, field, relation)?;
                if !cx.careful {
                    return Ok(source);
                }
                let bad = self.add(Selected::BadKey(relation));
                Ok(RowSource::Guarded(Box::new(Guarded {
                    is_bad: bad,
                    source,
                    error: bad_key(relation),
                })))
            }
            PlanKind::Function(function, _) => {
                self.called(selected_call(cx, field, function)?, &field.ty)
            }
            _ => Ok(RowSource::Nothing),
        }
    }

    /// Selects the rows of a relation, a page of them, or their aggregates.
    fn related(
        &mut self,
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        relation: Relation,
    ) -> Result<RowSource, DbError> {
        let views = self.views;
        let mut add = |part| self.add(Selected::Related(relation, Box::new(part)));
        Ok(match relation.shape {
            Shape::Connection => {
                let page = Read::page_beside(cx, field, relation)?;
                let (mut list, shapes) = row_shapes(cx, views, field, relation.row)?;
                let edges = edge_shapes(cx, views, field, relation, &mut list)?;
                let shape =
                    page.ask(views, cx.limits, list, &Wanted::of(field), cx.careful, add)?;
                RowSource::Page(Box::new(PageShape {
                    shapes,
                    edges,
                    ..shape
                }))
            }
            Shape::Aggregate => {
                let read = Read::beside(cx, field, relation)?;
                let (query, shape) = aggregate_query(cx, views.catalog, field, read)?;
                RowSource::Record(add(Subquery::Row(query)), Box::new(shape))
            }
            Shape::List => {
                let (query, shape) =
                    Read::relation(cx, field, relation)?.query(cx, views.catalog, field)?;
                RowSource::Records(add(Subquery::Rows(query)), Box::new(shape))
            }
            Shape::One | Shape::Optional => {
                let (query, shape) =
                    Read::relation(cx, field, relation)?.query(cx, views.catalog, field)?;
                RowSource::Record(add(Subquery::Row(query)), Box::new(shape))
            }
        })
    }

    /// Selects the value computed by a function, if its type fits.
    fn called(
        &mut self,
        call: Arc<ComputedColumnCall>,
        ty: &OutType,
    ) -> Result<RowSource, DbError> {
        let (select, form) = call_form(self.views.catalog, &call, ty)?;
        Ok(RowSource::Column(
            self.add(Selected::Call(call, select)),
            form,
        ))
    }

    /// Returns the form of the column with the field's name, if its type fits.
    fn fitting(&self, stored: &str, ty: Option<&OutType>) -> Option<(Select, ColumnForm)> {
        let column = self.source.columns.get(stored)?;
        ty.map_or(Some((Select::Text, ColumnForm::Text)), |ty| {
            form_of(&column.name, ty)
        })
    }

    /// Selects the column with the field's name if its type fits, otherwise a key of `data`.
    pub(super) fn stored(
        &mut self,
        stored: &str,
        ty: Option<&OutType>,
    ) -> Result<RowSource, DbError> {
        if let Some((select, form)) = self.fitting(stored, ty) {
            return Ok(RowSource::Column(self.column(stored, select), form));
        }

        let Some(data) = self.source.data() else {
            return Err(DbError::NoSource {
                source_name: self.source.name.clone(),
                field: stored.to_owned(),
            });
        };

        // A value that a mask may hide is not read as part of the document.
        if self.apart
            || self
                .views
                .rules
                .is_some_and(|rules| rules.mask(self.row, stored).is_some())
        {
            return Ok(RowSource::Column(
                self.read(Selected::Key(stored.to_owned())),
                ColumnForm::Jsonb,
            ));
        }

        if self.data.is_none() {
            let form = if data.name == "json" {
                ColumnForm::Json
            } else {
                ColumnForm::Jsonb
            };
            self.data = Some((self.column("data", Select::Plain), form));
        }

        Ok(RowSource::Data)
    }

    /// Selects a value that may have a text which is not UTF-8, and whether it has.
    fn checked(&mut self, stored: &str, ty: &OutType) -> Result<RowSource, DbError> {
        let (text, form) = match self.fitting(stored, Some(ty)) {
            Some((select, form)) => (CheckedText::Column(stored.to_owned(), select), form),
            None if self.source.data().is_some_and(|data| data.name == "jsonb") => {
                (CheckedText::Key(stored.to_owned()), ColumnForm::Jsonb)
            }
            // PostgreSQL would parse the `json` document again for each key.
            None => return self.stored(stored, Some(ty)),
        };

        let is_bad = self.add(Selected::NotUtf8(text.clone()));
        let value = self.add(Selected::Utf8(text));
        Ok(RowSource::Guarded(Box::new(Guarded {
            is_bad,
            source: RowSource::Column(value, form),
            error: Error::internal(format!("the stored text of `{stored}` is not UTF-8")),
        })))
    }

    fn column(&mut self, name: &str, select: Select) -> usize {
        self.read(Selected::Column(name.to_owned(), select))
    }

    /// Selects a value unless it is already selected, and returns its position.
    fn read(&mut self, selected: Selected) -> usize {
        let same = |known: &Selected| match (known, &selected) {
            (Selected::Column(known, form), Selected::Column(name, select)) => {
                known == name && form == select
            }
            (Selected::Key(known), Selected::Key(name)) => known == name,
            _ => false,
        };

        self.list
            .iter()
            .position(same)
            .unwrap_or_else(|| self.add(selected))
    }
}

/// Returns how a field reads a value of a database type; `None` if the type does not fit.
fn form_of(type_name: &str, ty: &OutType) -> Option<(Select, ColumnForm)> {
    match ty.nullable().0 {
        OutType::Leaf(Leaf::Scalar(kind) | Leaf::Node(NodeType { kind, .. })) => {
            select_form(type_name, Some(*kind))
        }
        OutType::Leaf(Leaf::Enum(_)) => select_form(type_name, None),
        // Lists and objects arrive as JSON for every column type.
        _ => select_form(type_name, Some(ScalarKind::Json))
            .filter(|(_, form)| *form != ColumnForm::Text),
    }
}

/// Returns how a field reads a function's result.
///
/// # Errors
/// If the function cannot be called, or its result has an unsuitable type.
pub(super) fn call_form(
    catalog: &Catalog,
    call: &ComputedColumnCall,
    ty: &OutType,
) -> Result<(Select, ColumnForm), DbError> {
    let result = &catalog.row_function(&call.spec)?.result;
    result_form(result, ty).ok_or_else(|| unfit(&call.spec.name, result))
}

fn result_form(result: &ColumnType, ty: &OutType) -> Option<(Select, ColumnForm)> {
    // Only an array can be compared as a list.
    let fits = !ty.is_list() || result.sql.ends_with("[]");
    fits.then(|| form_of(&result.name, ty)).flatten()
}

/// Returns the reason why a function cannot compute a field of a type, if there is one.
pub(crate) fn call_fault(
    catalog: &Catalog,
    model: &Model,
    spec: &FunctionSpec,
    ty: &TypeExpr,
) -> Option<String> {
    let result = &catalog.row_function(spec).ok()?.result;
    result_form(result, &OutType::of(model, ty))
        .is_none()
        .then(|| unfit(&spec.name, result).to_string())
}

/// Returns the error for a relation whose key cannot be converted to the type of the other side.
pub(super) fn bad_key(relation: Relation) -> Error {
    if relation.is_from_client {
        return node_id::no_key();
    }
    let [from, to] = [relation.from, relation.to].map(|keys| keys.join("`, `"));
    Error::internal(format!("a row's `{from}` is not a valid value of `{to}`"))
}

impl Read {
    /// Returns the query for the selection of `field`, and the shape of its rows.
    pub(super) fn query(
        self,
        cx: &ExecutionContext<'_>,
        catalog: &Catalog,
        field: &PlanField,
    ) -> Result<(Query, RowShape), DbError> {
        let views = cx.context.db().views(catalog);
        let mut columns = Columns::new(views, self.row)?;
        let mut shape = columns.shape(cx, field, self.row)?;
        let query = self.reading(columns.finish().0, cx.careful);
        shape.types = record_types(views, &query)?;
        Ok((query, shape))
    }
}
