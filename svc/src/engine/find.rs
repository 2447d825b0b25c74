//! Planned rows: from a field's selection and arguments to one statement, and from its rows to bytes.

use async_graphql::Value;

use super::complete::{Piece, RowShape, RowSource, write_rows};
use super::env::Env;
use super::path::Path;
use super::plan::{Calls, Leaf, OutType, PlanField, PlanKind};
use crate::Error;
use crate::authz::Pass;
use crate::db::{
    ColumnForm, Comparison, Db, DbError, Direction, Filter, FindSpec, Nulls, Order, Page, Rows, Select, SelectList, Source,
    SqlValue, Statement, col, page, quote, select_form,
};
use crate::schema::{ArgRole, FieldKind, Model, PlannedMeta, ScalarKind, Shape, TypeIndex, TypeKind};

/// What to read: rows of a type, which of them, in which order.
struct Read {
    row: TypeIndex,
    shape: Shape,
    filter: Filter,
    order: Vec<Order>,
    page: Option<Page>,
}

/// Answers a root field without a body.
pub(crate) async fn write_planned(
    env: &Env<'_>,
    _: &Pass,
    field: &PlanField,
    planned: PlannedMeta,
    row: TypeIndex,
    path: &Path<'_>,
) -> Piece {
    match planned_read(env, field, planned, row) {
        Ok(read) => write_read(env, field, read, path).await,
        Err(error) => Piece::failed(env, &error, field, path),
    }
}

/// Answers a field whose resolver returned a query.
pub(crate) async fn write_find(env: &Env<'_>, field: &PlanField, find: FindSpec, path: &Path<'_>) -> Piece {
    let read = find_read(env.model, env.limits, find, if field.ty.is_list() { Shape::List } else { Shape::Optional });
    match read {
        Ok(read) => write_read(env, field, read, path).await,
        Err(error) => Piece::failed(env, &error.into_error(), field, path),
    }
}

fn find_read(model: &Model, limits: &super::Limits, find: FindSpec, shape: Shape) -> Result<Read, DbError> {
    let unknown = || DbError::UnknownSource("a type that is not in the schema".to_owned());
    let row = model.by_rust.get(&find.row).copied().ok_or_else(unknown)?;
    let page = Some(find.page(limits)?);
    Ok(Read { row, shape, filter: find.filter, order: find.order, page })
}

async fn write_read(env: &Env<'_>, field: &PlanField, read: Read, path: &Path<'_>) -> Piece {
    if field.children.calls() > Calls::None {
        // Methods need whole rows.
        return match typed(env.database, env.model, &read).await {
            Ok(rows) => super::typed::complete_typed(env, field, read.row, read.shape, rows, path).await,
            Err(error) => away(env, field, read.shape, error, path),
        };
    }
    match fetch(env, field, &read).await {
        Ok((rows, shape)) => {
            let missing = read.shape == Shape::One && rows.len() == 0;
            Piece::walk(env, |walk, out| {
                if missing {
                    return walk.failed(&not_found(field), field, path, out);
                }
                write_rows(walk, field, &shape, &rows, read.shape, path, out)
            })
        }
        Err(error) => away(env, field, read.shape, error, path),
    }
}

pub(super) fn not_found(field: &PlanField) -> Error {
    Error::with_code("NOT_FOUND", format!("`{}` found no row", field.name))
}

/// A failed read. In development a database that is away gives empty results, so that a client can be built first.
fn away(env: &Env<'_>, field: &PlanField, shape: Shape, error: DbError, path: &Path<'_>) -> Piece {
    match (&error, shape) {
        (DbError::Away, Shape::List) if env.development => Piece::walk(env, |_, out| {
            out.extend_from_slice(b"[]");
            Ok(())
        }),
        (DbError::Away, Shape::Optional) if env.development => Piece::walk(env, |_, out| {
            out.extend_from_slice(b"null");
            Ok(())
        }),
        _ => Piece::failed(env, &error.into_error(), field, path),
    }
}

async fn fetch(env: &Env<'_>, field: &PlanField, read: &Read) -> Result<(Rows, RowShape), DbError> {
    let source = env.database.source(source_name(env.model, read.row)?).await?;
    let mut columns = Columns { source: &source, list: Vec::new(), data: None };
    let shape = columns.shape(env.model, field, read.row)?;
    let statement = statement(env.model, &source, &SelectList(columns.list), read)?;
    Ok((env.database.fetch(&statement).await?, shape))
}

fn statement(model: &Model, source: &Source, list: &SelectList, read: &Read) -> Result<Statement, DbError> {
    let kind_of = |stored: &str| stored_kind(model, read.row, stored);
    Statement::select(source, &kind_of, list, &read.filter, &read.order, read.page)
}

fn source_name(model: &Model, row: TypeIndex) -> Result<&'static str, DbError> {
    let source = match &model.types[row].kind {
        TypeKind::Object(object) => object.source,
        TypeKind::Abstract(abstraction) => abstraction.source,
        _ => None,
    };
    source.ok_or_else(|| DbError::UnknownSource(model.types[row].path.clone()))
}

/// The scalar of a stored field (`Some(None)` for an enum), or `None` when the type has no such scalar.
fn stored_kind(model: &Model, row: TypeIndex, stored_name: &str) -> Option<Option<ScalarKind>> {
    let object = model.possible_types(row).first().and_then(|index| model.object(*index))?;
    let field = object.fields.values().find(|field| matches!(field.kind, FieldKind::Stored { stored, .. } if stored == stored_name))?;
    if field.ty.is_list() {
        return None;
    }
    match &model.types[field.ty.named()].kind {
        TypeKind::Scalar { kind, .. } => Some(Some(*kind)),
        TypeKind::Enum(_) => Some(None),
        _ => None,
    }
}

/// Chooses the columns of a statement.
struct Columns<'a> {
    source: &'a Source,
    list: Vec<String>,
    data: Option<(usize, ColumnForm)>,
}

impl Columns<'_> {
    fn shape(&mut self, model: &Model, field: &PlanField, row: TypeIndex) -> Result<RowShape, DbError> {
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
    fn stored(&mut self, stored: &str, ty: Option<&OutType>) -> Result<RowSource, DbError> {
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

/// The read that a field's arguments ask for.
fn planned_read(env: &Env<'_>, field: &PlanField, planned: PlannedMeta, row: TypeIndex) -> Result<Read, Error> {
    let values = env.arguments(&field.args)?;
    let (mut filters, mut order, mut limit, mut offset) = (Vec::new(), Vec::new(), None, 0);
    for (arg, value) in field.args.iter().zip(values) {
        let Some(value) = value else { continue };
        match (arg.role, value) {
            (ArgRole::Declared, value) => filters.push(declared_filter(env.model, row, &arg.rust, &value)?),
            (ArgRole::Where, Value::Object(fields)) => filters.push(where_filter(env.model, row, &fields)?),
            (ArgRole::OrderBy, Value::List(keys)) => {
                for key in &keys {
                    orders(env.model, row, key, &mut order)?;
                }
            }
            (ArgRole::Limit, Value::Number(number)) => limit = number.as_i64(),
            (ArgRole::Offset, Value::Number(number)) => offset = number.as_i64().unwrap_or(0),
            _ => {}
        }
    }
    let page = match planned.shape {
        Shape::List => page(limit, offset, env.limits).map_err(DbError::into_error)?,
        Shape::Optional | Shape::One => Page { limit: 1, offset: 0 },
    };
    Ok(Read { row, shape: planned.shape, filter: Filter::All(filters), order, page: Some(page) })
}

/// A field of a row type by its Rust name: what it is stored as, and its enum's stored values.
struct Stored<'a> {
    name: &'static str,
    values: Option<&'a [crate::schema::EnumValue]>,
}

impl<'a> Stored<'a> {
    fn of(model: &'a Model, row: TypeIndex, rust: &str) -> Result<Self, Error> {
        let object = model.possible_types(row).first().and_then(|index| model.object(*index));
        let field = object.and_then(|object| object.fields.values().find(|field| field.rust == rust));
        match field.map(|field| (field, field.kind)) {
            Some((field, FieldKind::Stored { stored, .. })) => {
                let values = match &model.types[field.ty.named()].kind {
                    TypeKind::Enum(def) => Some(def.values.as_slice()),
                    _ => None,
                };
                Ok(Self { name: stored, values })
            }
            // A filter that names nothing must never become "all rows".
            _ => Err(Error::internal(format!("a filter names `{rust}`, which `{}` does not store", model.types[row].path))),
        }
    }

    /// The value as it is stored: enum values by their stored text.
    fn value(&self, value: &Value) -> SqlValue {
        match (self.values, value) {
            (Some(values), Value::Enum(name)) => {
                let stored = values.iter().find(|value| value.name == name.as_str()).map(|value| value.stored);
                SqlValue::Text(stored.unwrap_or(name).to_owned())
            }
            (Some(_), Value::List(items)) => SqlValue::List(items.iter().map(|item| self.value(item)).collect()),
            (_, value) => SqlValue::from_graphql(value),
        }
    }
}

fn declared_filter(model: &Model, row: TypeIndex, rust: &str, value: &Value) -> Result<Filter, Error> {
    let stored = Stored::of(model, row, rust)?;
    let value = stored.value(value);
    let column = col(stored.name);
    Ok(if matches!(value, SqlValue::List(_)) { Filter::Compare(column, Comparison::In, value) } else { column.eq(value) })
}

type Fields = indexmap::IndexMap<async_graphql::Name, Value>;

fn where_filter(model: &Model, row: TypeIndex, fields: &Fields) -> Result<Filter, Error> {
    let mut all = Vec::new();
    for (rust, value) in fields {
        match (rust.as_str(), value) {
            // An absent condition and a null one both ask nothing.
            (_, Value::Null) => {}
            ("AND", Value::List(items)) => all.push(Filter::All(where_filters(model, row, items)?)),
            ("OR", Value::List(items)) => all.push(Filter::Any(where_filters(model, row, items)?)),
            ("NOT", Value::Object(fields)) => all.push(where_filter(model, row, fields)?.not()),
            (rust, Value::Object(operators)) => {
                let stored = Stored::of(model, row, rust)?;
                for (operator, value) in operators {
                    all.push(operator_filter(&stored, operator, value)?);
                }
            }
            (rust, _) => return Err(Error::internal(format!("the condition on `{rust}` is no object"))),
        }
    }
    Ok(Filter::All(all))
}

fn where_filters(model: &Model, row: TypeIndex, items: &[Value]) -> Result<Vec<Filter>, Error> {
    let filters = items.iter().map(|item| match item {
        Value::Object(fields) => where_filter(model, row, fields),
        _ => Err(Error::internal("a condition is no object")),
    });
    filters.collect()
}

fn operator_filter(stored: &Stored<'_>, operator: &str, value: &Value) -> Result<Filter, Error> {
    let comparison = match operator {
        "eq" => Comparison::Eq,
        "neq" => Comparison::Ne,
        "gt" => Comparison::Gt,
        "gte" => Comparison::Gte,
        "lt" => Comparison::Lt,
        "lte" => Comparison::Lte,
        "in" => Comparison::In,
        "nin" => Comparison::NotIn,
        "isnull" => Comparison::IsNull,
        other => return Err(Error::internal(format!("there is no operator `{other}`"))),
    };
    Ok(Filter::Compare(col(stored.name), comparison, stored.value(value)))
}

fn orders(model: &Model, row: TypeIndex, key: &Value, order: &mut Vec<Order>) -> Result<(), Error> {
    let Value::Object(fields) = key else { return Err(Error::internal("an order is no object")) };
    for (rust, direction) in fields {
        let Value::Enum(direction) = direction else { continue };
        let (direction, nulls) = match direction.as_str() {
            "ASC" | "ASC_NULLS_LAST" => (Direction::Asc, Nulls::Last),
            "ASC_NULLS_FIRST" => (Direction::Asc, Nulls::First),
            "DESC" | "DESC_NULLS_FIRST" => (Direction::Desc, Nulls::First),
            _ => (Direction::Desc, Nulls::Last),
        };
        order.push(Order { column: col(Stored::of(model, row, rust)?.name), direction, nulls });
    }
    Ok(())
}

/// All stored fields of the rows as JSON objects with the stored names as keys.
async fn typed(database: &crate::db::Database, model: &Model, read: &Read) -> Result<Vec<serde_json::Value>, DbError> {
    let source = database.source(source_name(model, read.row)?).await?;
    let mut columns = Columns { source: &source, list: Vec::new(), data: None };
    let fields = super::typed::stored_fields(model, read.row);
    let is_abstract = matches!(model.types[read.row].kind, TypeKind::Abstract(_));
    let mut sources = Vec::new();
    for (stored, ty) in &fields {
        // A member of an interface may store what the others do not.
        match columns.stored(stored, Some(ty)) {
            Ok(source) => sources.push(source),
            Err(_) if is_abstract => sources.push(RowSource::Nothing),
            Err(error) => return Err(error),
        }
    }
    let type_name = if is_abstract { Some(columns.stored("__typename", None)?) } else { None };
    let data = columns.data;
    let statement = statement(model, &source, &SelectList(columns.list), read)?;
    let rows = database.fetch(&statement).await?;
    Ok(super::typed::objects(&rows, &fields, &sources, type_name, data))
}

/// Typed rows for a resolver that awaits its query.
pub(crate) async fn typed_rows(db: &Db, find: &FindSpec) -> Result<Vec<serde_json::Value>, Error> {
    let read = find_read(&db.model, &db.limits, find.clone(), Shape::List).map_err(DbError::into_error)?;
    typed(&db.database, &db.model, &read).await.map_err(DbError::into_error)
}
