//! Aggregates, and the forms in which typed values are read.

use super::super::column::ColumnForm;
use crate::schema::{ScalarKind, TypeKind};

/// What is computed over all rows.
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

/// The form in which a value of a scalar or enum is read when it is no plain column.
pub(crate) fn value_form(kind: &TypeKind) -> Option<ColumnForm> {
    use ScalarKind as K;
    Some(match kind {
        TypeKind::Enum(_) => ColumnForm::Text,
        TypeKind::Scalar { kind, .. } => match kind {
            K::Int | K::BigInt => ColumnForm::Int8,
            K::Float => ColumnForm::Float8,
            K::Boolean => ColumnForm::Bool,
            K::Uuid => ColumnForm::Uuid,
            K::DateTime => ColumnForm::Instant,
            K::Date => ColumnForm::Date,
            K::Time => ColumnForm::Time,
            K::String | K::Id | K::Decimal | K::Custom(_) => ColumnForm::Text,
            K::Json => return None,
        },
        _ => return None,
    })
}
