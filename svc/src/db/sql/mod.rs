//! Statements: text from the schema and the catalogue, values bound. The only place that writes SQL for reads.

mod cast;
mod compare;
mod operand;
mod specific;

use std::fmt::Write as _;

use operand::Scope;
pub(crate) use operand::family;

use super::filter::{Column, Direction, Filter, Nulls, Order, Rank};
use super::{DbError, Operator, Source};
use crate::schema::{Model, TypeIndex};

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

impl Statement {
    /// Compiles a read of rows of type `row`.
    pub(crate) fn select(
        model: &Model,
        source: &Source,
        row: TypeIndex,
        list: &SelectList,
        filter: &Filter,
        order: &[Order],
        page: Option<Page>,
    ) -> Result<Self, DbError> {
        let mut builder = Builder { model, source, text: String::with_capacity(256), params: Vec::new(), elements: 0 };
        let scope = Scope::Row(row);
        let columns = if list.0.is_empty() { "1".to_owned() } else { list.0.join(", ") };
        // Writing to a String cannot fail.
        let _ = write!(builder.text, "SELECT {columns} FROM {} AS t", source.quoted);
        if *filter != Filter::All(Vec::new()) {
            builder.text.push_str(" WHERE ");
            builder.filter(&scope, filter)?;
        }
        builder.order(&scope, order, page.is_some() && !is_one_row(filter))?;
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

/// Whether a filter asks for one id, so that there is nothing to order.
fn is_one_row(filter: &Filter) -> bool {
    match filter {
        Filter::All(all) => all.iter().any(is_one_row),
        Filter::Compare(column, Operator::Eq, _) => column.0 == ["id"],
        _ => false,
    }
}

/// What is asked of all matching rows together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Total {
    /// How many there are.
    Count,
    /// Whether there is one.
    Exists,
}

impl Statement {
    /// Compiles a question to all rows of type `row` that match.
    pub(crate) fn total(
        model: &Model,
        source: &Source,
        row: TypeIndex,
        total: Total,
        filter: &Filter,
    ) -> Result<Self, DbError> {
        let mut builder = Builder { model, source, text: String::with_capacity(128), params: Vec::new(), elements: 0 };
        let selected = if total == Total::Count { "SELECT count(*)" } else { "SELECT EXISTS (SELECT" };
        let _ = write!(builder.text, "{selected} FROM {} AS t WHERE ", source.quoted);
        builder.filter(&Scope::Row(row), filter)?;
        if total == Total::Exists {
            builder.text.push(')');
        }
        Ok(Self { text: builder.text, params: builder.params })
    }
}

struct Builder<'a> {
    model: &'a Model,
    source: &'a Source,
    text: String,
    params: Vec<Param>,
    /// How many embedded lists have been opened; each gets an alias of its own.
    elements: usize,
}

impl Builder<'_> {
    /// Binds a value and gives its placeholder.
    fn bind(&mut self, param: Param) -> String {
        self.params.push(param);
        format!("${}", self.params.len())
    }

    fn filter(&mut self, scope: &Scope, filter: &Filter) -> Result<(), DbError> {
        match filter {
            Filter::All(all) => self.joined(scope, all, " AND ", "true"),
            Filter::Any(any) => self.joined(scope, any, " OR ", "false"),
            Filter::Not(inner) => {
                self.text.push('(');
                self.filter(scope, inner)?;
                self.text.push_str(") IS NOT TRUE");
                Ok(())
            }
            Filter::Compare(column, operator, value) => self.compare(scope, column, *operator, value),
            Filter::Some(column, inner) => self.some(scope, column, inner),
        }
    }

    fn joined(&mut self, scope: &Scope, filters: &[Filter], with: &str, empty: &str) -> Result<(), DbError> {
        if filters.is_empty() {
            self.text.push_str(empty);
            return Ok(());
        }
        self.text.push('(');
        for (index, filter) in filters.iter().enumerate() {
            if index > 0 {
                self.text.push_str(with);
            }
            self.filter(scope, filter)?;
        }
        self.text.push(')');
        Ok(())
    }

    /// A condition on the elements of an embedded list.
    fn some(&mut self, scope: &Scope, column: &Column, inner: &Filter) -> Result<(), DbError> {
        let (json, element) = self.embedded_list(scope, column)?;
        let alias = format!("e{}", self.elements);
        self.elements += 1;
        let array = format!("CASE WHEN jsonb_typeof({json}) = 'array' THEN {json} END");
        let _ = write!(self.text, "EXISTS (SELECT FROM jsonb_array_elements({array}) AS {alias}(v) WHERE ");
        self.filter(&Scope::Json { sql: format!("{alias}.v"), object: element }, inner)?;
        self.text.push(')');
        Ok(())
    }

    /// The expression that a key of an order sorts by.
    fn order_key(&mut self, scope: &Scope, key: &Order) -> Result<String, DbError> {
        let operand = self.operand(scope, &key.column)?;
        match &key.rank {
            Some(Rank { operator, query }) => self.rank(&operand, *operator, query),
            None => Ok(operand.sql),
        }
    }

    /// The order; a page gets a unique last key, so that it is stable.
    fn order(&mut self, scope: &Scope, order: &[Order], paged: bool) -> Result<(), DbError> {
        let mut keys = Vec::new();
        for key in order {
            let sql = self.order_key(scope, key)?;
            keys.push(match (key.direction, key.nulls) {
                (Direction::Asc, Nulls::Last) => sql,
                (Direction::Asc, Nulls::First) => format!("{sql} ASC NULLS FIRST"),
                (Direction::Desc, Nulls::First) => format!("{sql} DESC"),
                (Direction::Desc, Nulls::Last) => format!("{sql} DESC NULLS LAST"),
            });
        }
        let unique = Column(vec!["id".to_owned()]);
        if paged
            && !order.iter().any(|key| key.column == unique)
            && let Ok(operand) = self.operand(scope, &unique)
        {
            keys.push(operand.sql);
        }
        if !keys.is_empty() {
            let _ = write!(self.text, " ORDER BY {}", keys.join(", "));
        }
        Ok(())
    }
}
