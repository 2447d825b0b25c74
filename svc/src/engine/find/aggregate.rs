//! Aggregates: what is computed over all rows that match, and over groups of them, with one statement.

use super::conditions::direction;
use super::read::Read;
use crate::engine::complete::{Cells, CompletedValue, Guarded, RowShape, RowSource, RowSources, write_row};
use crate::engine::execution_context::ExecutionContext;
use crate::engine::path::Path;
use crate::engine::plan::{Leaf, OutType, PlanField, PlanKind};
use crate::postgres::{Catalogue, DbError, Statement};
use crate::repository::{Db, FindSpec, GroupCount, key_order, page};
use crate::schema::{AggregateFunction, ArgRole, FieldKind, Model, Part, TypeIndex, TypeKind};
use crate::sql::{Column, ColumnForm, GroupKey, Order, Query, Selected, Window, asc, record_types, value_form};
use crate::{Error, ErrorCode};
use async_graphql::Value;

/// Answers a field with aggregates of the rows that `read` finds. When a value in a row fails the statement, only what
/// is computed from such values fails.
pub(super) async fn write_aggregate(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    match aggregate(cx, field, read.clone(), path).await {
        Err(error) if error.is_of_data() => aggregate(&cx.careful(&error), field, read.clone(), path).await,
        result => result,
    }
}

async fn aggregate(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let catalogue = cx.database.catalogue().await?;
    let query = Query { careful: cx.careful, ..read.matching() };
    let mut asking = Asking { cx, catalogue: Some(&catalogue), query };
    let shape = asking.shape(field)?;
    let statement = Statement::rows(cx.context.db().views(&catalogue), &asking.query)?;
    let mut row = None;
    cx.database.stream(cx.session(), &statement, &mut row).await?;
    CompletedValue::walk_rows(cx, 0, |walk, out| write_row(walk, field, &shape, row.as_ref(), path, out))
}

/// Refuses what cannot be asked of the rows that `read` finds.
pub(super) fn check_aggregate(cx: &ExecutionContext<'_>, field: &PlanField, read: Read) -> Result<(), DbError> {
    Asking { cx, catalogue: None, query: read.matching() }.shape(field).map(drop)
}

/// The query of an aggregate or a group while its fields are collected.
struct Asking<'a> {
    cx: &'a ExecutionContext<'a>,
    /// `None` where it is only asked whether it can be asked.
    catalogue: Option<&'a Catalogue>,
    query: Query,
}

impl Asking<'_> {
    fn shape(&mut self, field: &PlanField) -> Result<RowShape, DbError> {
        let mut sources = Vec::new();
        for selection in field.children.iter() {
            let fields = selection.fields.iter().map(|field| self.source(field)).collect::<Result<_, _>>()?;
            sources.push(RowSources::new(selection, fields));
        }
        // A query without columns would not be one over all rows.
        if self.query.list.is_empty() {
            self.query.list.push(Selected::Count);
        }
        Ok(RowShape { type_name: None, data: None, sources, types: Box::default() })
    }

    fn source(&mut self, field: &PlanField) -> Result<RowSource, DbError> {
        Ok(match field.kind {
            PlanKind::Part(Part::Count) => RowSource::Column(self.add(Selected::Count), ColumnForm::Int8),
            PlanKind::Part(Part::Function(function)) => self.inner(field, |asking, stored, form| {
                asking.add(Selected::Aggregate(function, Column::of(stored), form))
            })?,
            PlanKind::Part(Part::Key) => self.inner(field, |asking, stored, form| {
                let column = Column::of(stored);
                if !asking.query.group.contains(&column) {
                    asking.query.group.push(column.clone());
                }
                asking.add(Selected::Value(column, form))
            })?,
            PlanKind::Part(Part::Groups) => self.groups(field)?,
            _ => RowSource::Nothing,
        })
    }

    fn add(&mut self, selected: Selected) -> usize {
        self.query.list.push(selected);
        self.query.list.len() - 1
    }

    /// An object whose fields are values of the same row.
    fn inner(
        &mut self,
        field: &PlanField,
        mut add: impl FnMut(&mut Self, &str, ColumnForm) -> usize,
    ) -> Result<RowSource, DbError> {
        let mut sources = Vec::new();
        for selection in field.children.iter() {
            let fields = selection.fields.iter().map(|field| match (field.kind, form(&field.ty)) {
                (PlanKind::Stored { stored, .. }, Some(form)) => {
                    let source = RowSource::Column(add(self, stored, form), form);
                    self.guarded(stored, source)
                }
                _ => RowSource::Nothing,
            });
            sources.push(RowSources::new(selection, fields.collect()));
        }
        let shape = RowShape { type_name: None, data: None, sources, types: Box::default() };
        Ok(RowSource::Same(Box::new(shape)))
    }

    /// With care, the values that cannot be read are told from those that are null.
    fn guarded(&mut self, stored: &str, source: RowSource) -> RowSource {
        if !self.cx.careful {
            return source;
        }
        let bad = self.add(Selected::Bad(Column::of(stored)));
        let error = Error::internal(format!("a row's `{stored}` breaks its type"));
        RowSource::Guarded(Box::new(Guarded { is_bad: bad, source, error }))
    }

    fn groups(&mut self, field: &PlanField) -> Result<RowSource, DbError> {
        let of_rows = Query::new(self.query.row, self.query.filter.clone());
        let query = Query { careful: self.cx.careful, from: self.query.from.clone(), ..of_rows };
        let mut groups = Asking { cx: self.cx, catalogue: self.catalogue, query };
        let mut shape = groups.shape(field)?;
        groups.arguments(field)?;
        if let Some(catalogue) = self.catalogue {
            shape.types = record_types(self.cx.context.db().views(catalogue), &groups.query)?;
        }
        let at = self.add(Selected::Rows(Box::new(groups.query)));
        Ok(RowSource::Records(at, Box::new(shape)))
    }

    fn arguments(&mut self, field: &PlanField) -> Result<(), DbError> {
        let (mut limit, mut offset) = (None, 0);
        for arg in field.args.iter() {
            let Some(value) = self.cx.argument(arg).map_err(DbError::refused)? else { continue };
            match (arg.role, value.as_ref()) {
                (ArgRole::OrderBy, Value::List(keys)) => {
                    for key in keys {
                        self.order(key).map_err(DbError::refused)?;
                    }
                }
                (ArgRole::Limit, Value::Number(number)) => limit = number.as_i64(),
                (ArgRole::Offset, Value::Number(number)) => offset = number.as_i64().unwrap_or(0),
                _ => {}
            }
        }
        // The keys are unique together, so that pages of groups are stable.
        for column in self.query.group.clone() {
            self.query.group_order.push((GroupKey::Value, Order { column, ..asc("id") }));
        }
        self.query.page = Some(page(limit, offset, self.cx.limits)?);
        Ok(())
    }

    /// One object of `orderBy` of groups.
    fn order(&mut self, key: &Value) -> Result<(), Error> {
        let Value::Object(fields) = key else { return Err(Error::internal("an order is not an object")) };
        for (name, value) in fields {
            match value {
                Value::Enum(given) => {
                    let order = direction(asc("count"), given);
                    self.query.group_order.push((GroupKey::Count, order));
                }
                Value::Object(fields) => {
                    for (rust, given) in fields {
                        let Value::Enum(given) = given else { continue };
                        let column = stored(self.cx.model, self.query.row, rust)?;
                        let key = match AggregateFunction::named(name) {
                            Some(function) => GroupKey::Aggregate(function),
                            None if self.query.group.contains(&column) => GroupKey::Value,
                            None => {
                                let message = format!(
                                    "groups cannot be ordered by `{rust}`, which is not selected in `key`; select it there"
                                );
                                return Err(Error::new(ErrorCode::BadUserInput, message));
                            }
                        };
                        let order = direction(Order { column, ..asc("id") }, given);
                        self.query.group_order.push((key, order));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn form(ty: &OutType) -> Option<ColumnForm> {
    match ty.nullable().0 {
        OutType::Leaf(Leaf::Scalar(kind)) => value_form(&TypeKind::Scalar { kind: *kind, specified_by: None }),
        OutType::Leaf(Leaf::Enum(_)) => Some(ColumnForm::Text),
        _ => None,
    }
}

fn stored(model: &Model, row: TypeIndex, rust: &str) -> Result<Column, Error> {
    let object = model.possible_types(row).first().and_then(|index| model.object(*index));
    let field = object.and_then(|object| object.fields.values().find(|field| field.rust == rust));
    match field.map(|field| field.kind) {
        Some(FieldKind::Stored { stored, .. }) => Ok(Column::of(stored)),
        _ => Err(Error::internal(format!("an order names `{rust}`, which is not stored"))),
    }
}

/// An aggregate of one column, as text.
pub(crate) async fn computed(
    db: &Db,
    find: &FindSpec,
    function: AggregateFunction,
    column: Column,
) -> Result<Option<String>, Error> {
    let column = &column;
    let ask = || async move {
        let catalogue = db.app.database.catalogue().await?;
        let read = Read::all(db, find.clone())?;
        let mut query = read.matching();
        query.list.push(Selected::Aggregate(function, column.clone(), ColumnForm::Text));
        let rows = db.app.database.fetch(db.session(), &Statement::rows(db.views(&catalogue), &query)?).await?;
        Ok::<_, DbError>(rows.cell(0, 0).map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    };
    db.app.database.following(ask).await.map_err(DbError::into_error)
}

/// Returns the number of rows for each combination of values.
pub(crate) async fn group_counts(db: &Db, find: &FindSpec, columns: Vec<Column>) -> Result<Vec<GroupCount>, Error> {
    let most = i64::from(db.app.limits.max_page);
    let columns = &columns;
    let ask = || async move {
        let catalogue = db.app.database.catalogue().await?;
        let read = Read::all(db, find.clone())?;
        let list = columns.iter().map(|column| Selected::Value(column.clone(), ColumnForm::Text));
        let query = Query {
            list: list.chain([Selected::Count]).collect(),
            order: key_order(columns),
            group: columns.clone(),
            page: Some(Window { limit: most + 1, offset: 0 }),
            ..read.matching()
        };
        let rows = db.app.database.fetch(db.session(), &Statement::rows(db.views(&catalogue), &query)?).await?;
        let group = |row: usize| {
            let cells = Cells::Nth(&rows, row);
            let text = |column| cells.get(column).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let count = cells.get(columns.len()).and_then(|bytes| bytes.try_into().ok()).map_or(0, i64::from_be_bytes);
            GroupCount { key: (0..columns.len()).map(text).collect(), count }
        };
        Ok::<_, DbError>((0..rows.len()).map(group).collect::<Vec<_>>())
    };
    let groups = db.app.database.following(ask).await.map_err(DbError::into_error)?;
    if groups.len() as i64 > most {
        return Err(Error::internal(format!("there are more than {most} groups; filter the rows")));
    }
    Ok(groups)
}
