//! The functions of aggregates: one table for the schema and for SQL.

use super::ScalarKind;

/// A function over all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AggregateFunction {
    Sum,
    Avg,
    Min,
    Max,
}

impl AggregateFunction {
    pub(crate) const ALL: [Self; 4] = [Self::Sum, Self::Avg, Self::Min, Self::Max];

    /// Its name, in SQL and in GraphQL.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// The function with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.sql() == name)
    }

    /// Its name in the names of types.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Sum => "Sum",
            Self::Avg => "Avg",
            Self::Min => "Min",
            Self::Max => "Max",
        }
    }

    /// Its name in sentences.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "average",
            Self::Min => "smallest value",
            Self::Max => "largest value",
        }
    }

    /// The scalar of its result over values of a scalar; `None` where it makes no sense.
    pub(crate) fn result(self, kind: ScalarKind) -> Option<ScalarKind> {
        use ScalarKind as K;
        match (self, kind) {
            (Self::Sum, K::Int) => Some(K::BigInt),
            (Self::Sum, K::BigInt | K::Decimal) | (Self::Avg, K::Decimal) => Some(K::Decimal),
            (Self::Sum, K::Float) | (Self::Avg, K::Int | K::BigInt | K::Float) => Some(K::Float),
            (
                Self::Min | Self::Max,
                K::Int | K::Float | K::BigInt | K::Decimal | K::Date | K::Time | K::DateTime | K::String,
            ) => Some(kind),
            _ => None,
        }
    }
}
