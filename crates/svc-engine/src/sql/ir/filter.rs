//! Conditions and orders, before they become SQL.

use std::fmt;
use std::sync::Arc;

use super::computed_column::ComputedColumnCall;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{AggregateFunction, EDGE, Operator, ScalarKind};

/// A condition on rows. An unknown column is an error, never "all rows".
///
/// ```
/// use svc::db::col;
///
/// let mine = col("author_id").eq(7).and(col("title").ne("draft"));
/// let theirs = col("author.name").contains("ada").or(col("tags").has_all(vec!["rust"]));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All of these; an empty list is true.
    All(Vec<Filter>),
    /// Any of these; an empty list is false.
    Any(Vec<Filter>),
    /// The negation; it also matches if the condition is unknown because of a null.
    Not(Box<Filter>),
    /// A comparison of a column or stored field.
    Compare(Column, Operator, SqlValue),
    /// At least one element of an embedded list matches; columns in the condition refer to the
    /// element.
    Some(Column, Box<Filter>),
    /// Evaluates the condition in SQL's three-valued logic, as for conditions of policies: a
    /// comparison with null is unknown, and so is its negation. A row is kept only if the whole
    /// condition is true.
    Strict(Box<Filter>),
    /// Aggregates of the rows that a relation leads to match all given conditions.
    Aggregate(Column, Box<AggregateFilter>),
}

/// Conditions on aggregates of related rows; all must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateFilter {
    /// The condition on the aggregated rows.
    pub filter: Filter,
    pub(crate) having: Vec<AggregateComparison>,
}

/// A comparison of an aggregate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AggregateComparison {
    pub(crate) value: Computed,
    pub(crate) operator: Operator,
    pub(crate) operand: SqlValue,
}

/// An aggregate over rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Computed {
    /// The number of rows.
    Count,
    /// An aggregate of a column, and the scalar of its result.
    Of(AggregateFunction, Column, ScalarKind),
}

impl Filter {
    /// Returns a filter that matches if both this one and `other` match.
    #[must_use]
    pub fn and(self, other: Filter) -> Self {
        match self {
            Self::All(mut all) => {
                all.push(other);
                Self::All(all)
            }
            first => Self::All(vec![first, other]),
        }
    }

    /// Returns a filter that matches if this one or `other` matches.
    #[must_use]
    pub fn or(self, other: Filter) -> Self {
        Self::Any(vec![self, other])
    }

    /// Returns the negation of this filter.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "reads like `and` and `or`")]
    pub fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

/// A column of a view, or a stored field in its `data`; further segments lead into embedded
/// objects.
#[derive(Clone, PartialEq, Eq)]
pub struct Column {
    #[doc(hidden)]
    pub path: Vec<String>,
    /// The function that computes the value at the end of the path, in place of a column.
    #[doc(hidden)]
    pub call: Option<Arc<ComputedColumnCall>>,
}

impl Column {
    /// A single column or key; every character of the name is literal.
    #[doc(hidden)]
    pub fn of(name: &str) -> Self {
        Self::at(vec![name.to_owned()])
    }

    /// The column or key at the end of a path.
    pub(crate) fn at(path: Vec<String>) -> Self {
        Self { path, call: None }
    }

    /// The field of the junction row, if the path leads to it.
    pub(in crate::sql) fn of_edge(&self) -> Option<Self> {
        let (first, rest) = self
            .path
            .split_first()
            .filter(|(_, rest)| !rest.is_empty())?;
        (first == EDGE).then(|| self.behind(rest))
    }

    /// The column at the rest of the path.
    pub(crate) fn behind(&self, rest: &[String]) -> Self {
        Self {
            path: rest.to_vec(),
            call: self.call.clone(),
        }
    }
}

/// The fingerprint of an order in cursors is computed from this text, so the text of a plain column
/// must stay the same.
impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("Column");
        shown.field(&self.path);
        if let Some(call) = &self.call {
            shown.field(call);
        }
        shown.finish()
    }
}

/// Names a column of a view or a stored field in its `data`; `author.name` is the name inside the
/// embedded author.
pub fn col(path: impl AsRef<str>) -> Column {
    Column::at(path.as_ref().split('.').map(str::to_owned).collect())
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident($value:ty) => $operator:ident;)*) => {
        impl Column {
            $($(#[$doc])* #[must_use]
            pub fn $name(self, value: $value) -> Filter {
                Filter::Compare(self, Operator::$operator, value.into())
            })*
        }
    };
}

comparisons! {
    /// Whether the value equals this one; null means that it is null.
    eq(impl Into<SqlValue>) => Eq;
    /// Whether the value differs from this one; rows without a value are kept.
    ne(impl Into<SqlValue>) => Ne;
    /// Whether the value is greater.
    gt(impl Into<SqlValue>) => Gt;
    /// Whether the value is greater or equal.
    gte(impl Into<SqlValue>) => Gte;
    /// Whether the value is less.
    lt(impl Into<SqlValue>) => Lt;
    /// Whether the value is less or equal.
    lte(impl Into<SqlValue>) => Lte;
    /// Whether the value is one of a list; an empty list gives no rows.
    is_in(impl Into<SqlValue>) => In;
    /// Whether the value is none of a list; rows without a value are kept.
    not_in(impl Into<SqlValue>) => NotIn;
    /// Whether the value contains this text; `%`, `_` and `\` mean themselves.
    contains(impl Into<SqlValue>) => Contains;
    /// Whether the value begins with this text; `%`, `_` and `\` mean themselves.
    starts_with(impl Into<SqlValue>) => StartsWith;
    /// Whether the value ends with this text; `%`, `_` and `\` mean themselves.
    ends_with(impl Into<SqlValue>) => EndsWith;
    /// Whether the value matches a pattern with `%` and `_`.
    like(impl Into<SqlValue>) => Like;
    /// Whether the value matches a pattern with `%` and `_`, in any case.
    ilike(impl Into<SqlValue>) => ILike;
    /// Whether the value is a list that holds all of these.
    has_all(impl Into<SqlValue>) => ListContains;
    /// Whether the value is a list that holds at least one of these.
    has_any(impl Into<SqlValue>) => Overlaps;
}

impl Column {
    /// Whether the value is null.
    #[must_use]
    pub fn is_null(self) -> Filter {
        Filter::Compare(self, Operator::IsNull, SqlValue::Bool(true))
    }

    /// Whether at least one element of an embedded list matches.
    #[must_use]
    pub fn some(self, filter: Filter) -> Filter {
        Filter::Some(self, Box::new(filter))
    }
}

/// One key of an order.
#[derive(Clone, PartialEq)]
pub struct Order {
    pub(crate) column: Column,
    pub(crate) direction: Direction,
    pub(crate) nulls: Nulls,
    /// Orders documents by how well they match a query.
    pub(crate) rank: Option<Rank>,
    /// Orders rows by an aggregate over the rows that the relation `column` leads to.
    #[doc(hidden)]
    pub aggregate: Option<Box<OrderAggregate>>,
}

/// An aggregate as an order key.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderAggregate {
    pub(crate) value: Computed,
    /// The condition on the aggregated rows.
    pub filter: Filter,
}

/// Cursors contain a hash of this text, so the text of existing orders must stay the same.
impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            column,
            direction,
            nulls,
            rank,
            aggregate,
        } = self;

        let mut text = f.debug_struct("Order");
        text.field("column", column)
            .field("direction", direction)
            .field("nulls", nulls)
            .field("rank", rank);
        if let Some(aggregate) = aggregate {
            text.field("aggregate", aggregate);
        }

        text.finish()
    }
}

/// A text search query; documents are ordered by how well they match it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rank {
    pub(crate) operator: Operator,
    pub(crate) query: SqlValue,
}

/// The direction of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Asc,
    Desc,
}

/// The position of nulls in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    First,
    Last,
}

impl Order {
    /// Nulls before all values.
    #[must_use]
    pub fn nulls_first(mut self) -> Self {
        self.nulls = Nulls::First;
        self
    }

    /// Nulls after all values.
    #[must_use]
    pub fn nulls_last(mut self) -> Self {
        self.nulls = Nulls::Last;
        self
    }
}

impl Order {
    /// Whether its expression contains a client's values.
    pub(crate) fn binds(&self) -> bool {
        let binds = |by: &OrderAggregate| by.filter != Filter::All(Vec::new());
        let has_arguments = |call: &ComputedColumnCall| !call.args.is_empty();

        self.rank.is_some()
            || self.aggregate.as_deref().is_some_and(binds)
            || self.column.call.as_deref().is_some_and(has_arguments)
    }

    /// Whether it orders by the values of a column.
    pub(crate) fn is_of_value(&self) -> bool {
        self.rank.is_none() && self.aggregate.is_none() && self.column.call.is_none()
    }

    /// The reverse order.
    pub(crate) fn flipped(mut self) -> Self {
        self.direction = if self.direction == Direction::Asc {
            Direction::Desc
        } else {
            Direction::Asc
        };

        self.nulls = if self.nulls == Nulls::First {
            Nulls::Last
        } else {
            Nulls::First
        };

        self
    }
}

/// Orders by a column, the smallest value first and nulls last.
pub fn asc(column: impl AsRef<str>) -> Order {
    Order {
        column: col(column),
        direction: Direction::Asc,
        nulls: Nulls::Last,
        rank: None,
        aggregate: None,
    }
}

/// Orders by a column, the largest value first and nulls first.
pub fn desc(column: impl AsRef<str>) -> Order {
    Order {
        column: col(column),
        direction: Direction::Desc,
        nulls: Nulls::First,
        rank: None,
        aggregate: None,
    }
}
