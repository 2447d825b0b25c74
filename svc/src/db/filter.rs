//! Conditions and orders, before they are SQL.

use super::SqlValue;

/// A condition on rows. An unknown column is an error, never "all rows".
///
/// ```
/// use svc::db::col;
///
/// let mine = col("author_id").eq(7).and(col("title").ne("draft"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All of these; an empty list is true.
    All(Vec<Filter>),
    /// Any of these; an empty list is false.
    Any(Vec<Filter>),
    /// Not this; a condition that is unknown because of a null does not hold.
    Not(Box<Filter>),
    /// A comparison of a column or stored field.
    Compare(Column, Comparison, SqlValue),
}

impl Filter {
    /// This and `other`.
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

    /// This or `other`.
    #[must_use]
    pub fn or(self, other: Filter) -> Self {
        Self::Any(vec![self, other])
    }

    /// The opposite.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "reads like `and` and `or`")]
    pub fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

/// How a column is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    NotIn,
    /// With `true` or `false` on the right.
    IsNull,
}

/// A column of a view, or a stored field in its `data`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column(pub(crate) String);

/// Names a column of a view, or a stored field in its `data`.
pub fn col(name: impl Into<String>) -> Column {
    Column(name.into())
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident => $comparison:ident;)*) => {
        impl Column {
            $($(#[$doc])* #[must_use]
            pub fn $name(self, value: impl Into<SqlValue>) -> Filter {
                Filter::Compare(self, Comparison::$comparison, value.into())
            })*
        }
    };
}

comparisons! {
    /// Equal; null means that the value is null.
    eq => Eq;
    /// Not equal; rows without a value are kept.
    ne => Ne;
    /// Greater.
    gt => Gt;
    /// Greater or equal.
    gte => Gte;
    /// Less.
    lt => Lt;
    /// Less or equal.
    lte => Lte;
    /// One of a list; an empty list gives no rows.
    is_in => In;
    /// None of a list; rows without a value are kept.
    not_in => NotIn;
}

impl Column {
    /// Whether the value is null.
    #[must_use]
    pub fn is_null(self) -> Filter {
        Filter::Compare(self, Comparison::IsNull, SqlValue::Bool(true))
    }
}

/// One key of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub(crate) column: Column,
    pub(crate) direction: Direction,
    pub(crate) nulls: Nulls,
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Asc,
    Desc,
}

/// Where nulls go.
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

/// Smallest first, nulls last.
pub fn asc(column: impl Into<String>) -> Order {
    Order { column: col(column), direction: Direction::Asc, nulls: Nulls::Last }
}

/// Largest first, nulls first.
pub fn desc(column: impl Into<String>) -> Order {
    Order { column: col(column), direction: Direction::Desc, nulls: Nulls::First }
}
