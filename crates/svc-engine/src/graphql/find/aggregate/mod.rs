//! Aggregates: values computed over all matching rows, and over groups of them, with one statement.

mod groups;
mod having;
mod resolver_values;

pub(super) use groups::GroupArguments;
pub(crate) use resolver_values::{computed, group_counts};

use groups::group_key;

use super::read::Read;
use crate::graphql::complete::{
    CompletedValue, Guarded, RowShape, RowSource, RowSources, write_row,
};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Leaf, OutType, PlanField, PlanKind};
use crate::graphql::response::Path;
use crate::sql::{
    Column, ColumnForm, GroupValue, Query, Selected, record_types, select_rows, value_form,
};
use svc_core::Error;
use svc_core::schema::{Part, TypeKind};
use svc_postgres::{Catalog, DbError};

/// Completes a field with aggregates of the rows of `read`. If a value in a row fails the
/// statement, only the fields computed from such values fail.
pub(super) async fn write_aggregate(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    match aggregate(cx, field, read.clone(), path).await {
        Err(error) if error.is_of_data() => {
            aggregate(&cx.careful(&error), field, read.clone(), path).await
        }
        result => result,
    }
}

async fn aggregate(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let catalog = cx.database.catalog().await?;
    let (query, shape) = aggregate_query(cx, &catalog, field, read)?;
    let statement = select_rows(cx.context.db().views(&catalog), &query)?;
    let mut row = None;

    cx.database
        .stream(cx.session(), &statement, &mut row)
        .await?;

    CompletedValue::walk_rows(cx, (field, path), 0, |walk, out| {
        write_row(walk, field, &shape, row.as_ref(), path, out)
    })
}

/// Returns the query for the aggregates that a field computes over the rows of `read`, and the
/// shape of its one row.
pub(super) fn aggregate_query(
    cx: &ExecutionContext<'_>,
    catalog: &Catalog,
    field: &PlanField,
    read: Read,
) -> Result<(Query, RowShape), DbError> {
    let query = Query {
        careful: cx.careful,
        ..read.matching()
    };

    let mut asking = Asking {
        cx,
        catalog: Some(catalog),
        query,
    };

    let mut shape = asking.shape(field)?;
    shape.types = record_types(cx.context.db().views(catalog), &asking.query)?;

    Ok((asking.query, shape))
}

/// Rejects aggregates that cannot be computed over the rows of `read`.
pub(super) fn check_aggregate(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: Read,
) -> Result<(), DbError> {
    Asking {
        cx,
        catalog: None,
        query: read.matching(),
    }
    .shape(field)
    .map(drop)
}

/// The query of an aggregate or a group, while its fields are collected.
struct Asking<'a> {
    cx: &'a ExecutionContext<'a>,
    /// `None` if the query is only checked and will not run.
    catalog: Option<&'a Catalog>,
    query: Query,
}

impl Asking<'_> {
    fn shape(&mut self, field: &PlanField) -> Result<RowShape, DbError> {
        let mut sources = Vec::new();
        for selection in field.children.iter() {
            let fields = selection
                .fields
                .iter()
                .map(|field| self.source(field))
                .collect::<Result<_, _>>()?;
            sources.push(RowSources::new(selection, fields));
        }

        // A query without computed values, such as one with only groups, would not aggregate over
        // all rows.
        if !self.query.is_computed() {
            self.query.list.push(Selected::Count);
        }

        Ok(RowShape {
            type_name: None,
            data: None,
            sources,
            types: Box::default(),
        })
    }

    fn source(&mut self, field: &PlanField) -> Result<RowSource, DbError> {
        Ok(match field.kind {
            PlanKind::Part(Part::Count) => {
                RowSource::Column(self.add(Selected::Count), ColumnForm::Int8)
            }
            PlanKind::Part(Part::Function(function)) => self.inner(field, |asking, field| {
                let (PlanKind::Stored { stored, .. }, Some(form)) = (field.kind, form(&field.ty))
                else {
                    return None;
                };
                let column = Column::of(stored);
                let at = asking.add(Selected::Aggregate(function, column.clone(), form));
                Some((column.into(), RowSource::Column(at, form)))
            }),
            PlanKind::Part(Part::Key) => self.key(field, None),
            PlanKind::Part(Part::Groups) => self.groups(field)?,
            _ => RowSource::Nothing,
        })
    }

    fn add(&mut self, selected: Selected) -> usize {
        self.query.list.push(selected);
        self.query.list.len() - 1
    }

    /// The values shared by the rows of a group, or the shared values of a related row if a
    /// relation is given.
    fn key(&mut self, field: &PlanField, relation: Option<&'static str>) -> RowSource {
        self.inner(field, |asking, field| {
            let (Some(key), Some(form)) = (group_key(field, relation), form(&field.ty)) else {
                return None;
            };
            let value = GroupValue::of(key);
            let at = asking.add(Selected::Value(value.clone(), form));
            Some((value, RowSource::Column(at, form)))
        })
    }

    /// An object whose fields are values of the same row. `add` selects each value and returns it
    /// with its source.
    fn inner(
        &mut self,
        field: &PlanField,
        mut add: impl FnMut(&mut Self, &PlanField) -> Option<(GroupValue, RowSource)>,
    ) -> RowSource {
        let mut sources = Vec::new();
        for selection in field.children.iter() {
            let fields = selection.fields.iter().map(|field| match field.kind {
                PlanKind::Part(Part::RelatedKey(relation)) => self.key(field, Some(relation)),
                _ => match add(self, field) {
                    Some((value, source)) => self.guarded(value, source),
                    None => RowSource::Nothing,
                },
            });
            sources.push(RowSources::new(selection, fields.collect()));
        }

        RowSource::Same(Box::new(RowShape {
            type_name: None,
            data: None,
            sources,
            types: Box::default(),
        }))
    }

    /// In a `careful` statement, distinguishes values that cannot be read from nulls.
    fn guarded(&mut self, value: GroupValue, source: RowSource) -> RowSource {
        if !self.cx.careful {
            return source;
        }

        let error = Error::internal(format!(
            "a row's `{}` breaks its type",
            value.column.path.join(".")
        ));
        let bad = self.add(Selected::Bad(value));
        RowSource::Guarded(Box::new(Guarded {
            is_bad: bad,
            source,
            error,
        }))
    }

    fn groups(&mut self, field: &PlanField) -> Result<RowSource, DbError> {
        // The subquery starts at all rows again, so the filter is repeated, with the conditions of
        // the policy in it.
        let of_rows = Query::new(self.query.row, self.query.filter.clone());
        let query = Query {
            careful: self.cx.careful,
            from: self.query.from.clone(),
            ..of_rows
        };

        let mut groups = Asking {
            cx: self.cx,
            catalog: self.catalog,
            query,
        };

        GroupArguments::of(self.cx, field)?.apply(&mut groups.query)?;
        let mut shape = groups.shape(field)?;
        if let Some(catalog) = self.catalog {
            shape.types = record_types(self.cx.context.db().views(catalog), &groups.query)?;
        }

        let at = self.add(Selected::Rows(Box::new(groups.query)));

        Ok(RowSource::Records(at, Box::new(shape)))
    }
}

fn form(ty: &OutType) -> Option<ColumnForm> {
    match ty.nullable().0 {
        OutType::Leaf(Leaf::Scalar(kind)) => value_form(&TypeKind::Scalar {
            kind: *kind,
            specified_by: None,
        }),
        OutType::Leaf(Leaf::Enum(_) | Leaf::Node(_)) => Some(ColumnForm::Text),
        _ => None,
    }
}
