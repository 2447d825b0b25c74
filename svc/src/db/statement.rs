//! Statements: text from the schema and the catalogue, values bound.

use std::fmt::Write as _;

use super::catalogue::{ColumnType, quote};
use super::filter::{Column, Comparison, Direction, Filter, Nulls, Order};
use super::{DbError, Source, SqlValue};
use crate::schema::ScalarKind;

/// A statement with its values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) params: Vec<Param>,
}

/// A bound value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Param {
    Text(String),
    Texts(Vec<String>),
    Int(i64),
}

/// The part of a statement that the selection decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SelectList(pub(crate) Vec<String>);

/// Which rows of an ordered list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) limit: i64,
    pub(crate) offset: i64,
}

/// Tells the scalar kind of a stored field, so that values in `data` compare as their type.
pub(crate) type KindOf<'a> = &'a dyn Fn(&str) -> Option<Option<ScalarKind>>;

impl Statement {
    /// Compiles a read.
    pub(crate) fn select(
        source: &Source,
        kind_of: KindOf<'_>,
        list: &SelectList,
        filter: &Filter,
        order: &[Order],
        page: Option<Page>,
    ) -> Result<Self, DbError> {
        let mut builder = Builder { source, kind_of, text: String::with_capacity(256), params: Vec::new() };
        let columns = if list.0.is_empty() { "1".to_owned() } else { list.0.join(", ") };
        // Writing to a String cannot fail.
        let _ = write!(builder.text, "SELECT {columns} FROM {} AS t", source.quoted);
        if *filter != Filter::All(Vec::new()) {
            builder.text.push_str(" WHERE ");
            builder.filter(filter)?;
        }
        builder.order(order, page.is_some())?;
        if let Some(page) = page {
            let limit = builder.bind(Param::Int(page.limit));
            let _ = write!(builder.text, " LIMIT {limit}");
            if page.offset != 0 {
                let offset = builder.bind(Param::Int(page.offset));
                let _ = write!(builder.text, " OFFSET {offset}");
            }
        }
        Ok(Self { text: builder.text, params: builder.params })
    }
}

struct Builder<'a> {
    source: &'a Source,
    kind_of: KindOf<'a>,
    text: String,
    params: Vec<Param>,
}

/// An expression and the type as which values are compared with it.
struct Operand {
    sql: String,
    cast: String,
}

impl Builder<'_> {
    fn bind(&mut self, param: Param) -> String {
        self.params.push(param);
        format!("${}", self.params.len())
    }

    fn operand(&self, column: &Column) -> Result<Operand, DbError> {
        let name = column.0.as_str();
        let kind = (self.kind_of)(name);
        if let Some(ty) = self.source.columns.get(name) {
            return Ok(column_operand(name, ty, kind.flatten()));
        }
        match (kind, self.source.data()) {
            (Some(kind), Some(_)) => Ok(data_operand(name, kind)),
            _ => Err(DbError::UnknownColumn { source_name: self.source.name.clone(), column: name.to_owned() }),
        }
    }

    fn filter(&mut self, filter: &Filter) -> Result<(), DbError> {
        match filter {
            Filter::All(all) => self.joined(all, " AND ", "true"),
            Filter::Any(any) => self.joined(any, " OR ", "false"),
            Filter::Not(inner) => {
                self.text.push('(');
                self.filter(inner)?;
                self.text.push_str(") IS NOT TRUE");
                Ok(())
            }
            Filter::Compare(column, comparison, value) => self.compare(column, *comparison, value),
        }
    }

    fn joined(&mut self, filters: &[Filter], with: &str, empty: &str) -> Result<(), DbError> {
        if filters.is_empty() {
            self.text.push_str(empty);
            return Ok(());
        }
        self.text.push('(');
        for (index, filter) in filters.iter().enumerate() {
            if index > 0 {
                self.text.push_str(with);
            }
            self.filter(filter)?;
        }
        self.text.push(')');
        Ok(())
    }

    fn compare(&mut self, column: &Column, comparison: Comparison, value: &SqlValue) -> Result<(), DbError> {
        use Comparison as C;
        let Operand { sql, cast } = self.operand(column)?;
        let text = match (comparison, value) {
            (C::Eq, SqlValue::Null) | (C::IsNull, SqlValue::Bool(true)) => format!("{sql} IS NULL"),
            (C::Ne, SqlValue::Null) | (C::IsNull, SqlValue::Bool(false)) => format!("{sql} IS NOT NULL"),
            // `isnull: null` asks nothing that rows could answer; comparisons with null hold for no row.
            (C::IsNull, _) | (C::Gt | C::Gte | C::Lt | C::Lte, SqlValue::Null) => "false".to_owned(),
            (C::In | C::NotIn, value) => {
                let texts = texts(value)?;
                let list = self.bind(Param::Texts(texts));
                match comparison {
                    C::In => format!("{sql} = ANY({list}::{cast}[])"),
                    _ => format!("({sql} <> ALL({list}::{cast}[])) IS NOT FALSE"),
                }
            }
            (comparison, value) => {
                let value = self.bind(Param::Text(checked(value.text().unwrap_or_default())?));
                let operator = match comparison {
                    C::Eq => "=",
                    C::Ne => "IS DISTINCT FROM",
                    C::Gt => ">",
                    C::Gte => ">=",
                    C::Lt => "<",
                    _ => "<=",
                };
                format!("{sql} {operator} {value}::{cast}")
            }
        };
        self.text.push_str(&text);
        Ok(())
    }

    /// The order; a page gets a unique last key, so that it is stable.
    fn order(&mut self, order: &[Order], paged: bool) -> Result<(), DbError> {
        let mut keys = Vec::new();
        for Order { column, direction, nulls } in order {
            let Operand { sql, .. } = self.operand(column)?;
            keys.push(match (direction, nulls) {
                (Direction::Asc, Nulls::Last) => sql,
                (Direction::Asc, Nulls::First) => format!("{sql} ASC NULLS FIRST"),
                (Direction::Desc, Nulls::First) => format!("{sql} DESC"),
                (Direction::Desc, Nulls::Last) => format!("{sql} DESC NULLS LAST"),
            });
        }
        let unique = Column("id".to_owned());
        if paged
            && !order.iter().any(|key| key.column == unique)
            && let Ok(operand) = self.operand(&unique)
        {
            keys.push(operand.sql);
        }
        if !keys.is_empty() {
            let _ = write!(self.text, " ORDER BY {}", keys.join(", "));
        }
        Ok(())
    }
}

/// A column compares as its own type; integers as the widest, so that no value overflows.
fn column_operand(name: &str, ty: &ColumnType, kind: Option<ScalarKind>) -> Operand {
    let sql = format!("t.{}", quote(name));
    let cast = match ty.name.as_str() {
        "int2" | "int4" | "int8" => "int8".to_owned(),
        "float4" | "float8" => "float8".to_owned(),
        "varchar" | "bpchar" | "name" => "text".to_owned(),
        "timestamp" if kind == Some(ScalarKind::DateTime) => {
            return Operand { sql: format!("({sql} AT TIME ZONE 'UTC')"), cast: "timestamptz".to_owned() };
        }
        "json" => return Operand { sql: format!("{sql}::jsonb"), cast: "jsonb".to_owned() },
        _ => ty.sql.clone(),
    };
    Operand { sql, cast }
}

/// A field of `data` compares as the type of its scalar.
fn data_operand(name: &str, kind: Option<ScalarKind>) -> Operand {
    use ScalarKind as K;
    let cast = match kind {
        Some(K::Int | K::Float | K::BigInt | K::Decimal) => "numeric",
        Some(K::Boolean) => "boolean",
        Some(K::Uuid) => "uuid",
        Some(K::DateTime) => "timestamptz",
        Some(K::Date) => "date",
        Some(K::Time) => "time",
        _ => "text",
    };
    let text = format!("(t.data->>{})", quote_literal(name));
    let sql = if cast == "text" { text } else { format!("{text}::{cast}") };
    Operand { sql, cast: cast.to_owned() }
}

/// Quotes a name of the schema as a text literal.
pub(crate) fn quote_literal(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}

fn checked(text: String) -> Result<String, DbError> {
    if text.contains('\0') { Err(DbError::Nul) } else { Ok(text) }
}

fn texts(value: &SqlValue) -> Result<Vec<String>, DbError> {
    match value {
        SqlValue::List(items) => items.iter().filter_map(SqlValue::text).map(checked).collect(),
        single => single.text().into_iter().map(checked).collect(),
    }
}
