//! The result types of aggregate functions.

use crate::schema::{AggregateFunction, ScalarKind, TypeKind};

impl AggregateFunction {
    /// The scalar of its result over values of a type; `None` if the function does not apply to the
    /// type.
    pub fn result(self, kind: &TypeKind) -> Option<ScalarKind> {
        match kind {
            // PostgreSQL's `json` has no equality, which even a count of distinct values needs.
            TypeKind::Scalar {
                kind: ScalarKind::Json,
                ..
            } => None,
            TypeKind::Scalar { .. } | TypeKind::Enum(_) if self == Self::CountDistinct => {
                Some(ScalarKind::Int)
            }
            TypeKind::Scalar { kind, .. } => self.of_scalar(*kind),
            _ => None,
        }
    }

    fn of_scalar(self, kind: ScalarKind) -> Option<ScalarKind> {
        use ScalarKind as K;

        match (self, kind) {
            // A sum of several values may exceed the range of their type, so it has the next larger
            // type.
            (Self::Sum, K::Int) => Some(K::BigInt),
            (Self::Sum, K::BigInt | K::Decimal) | (Self::Avg, K::Decimal) => Some(K::Decimal),
            (Self::Sum, K::Float) | (Self::Avg, K::Int | K::BigInt | K::Float) => Some(K::Float),
            (
                Self::Min | Self::Max,
                K::Int
                | K::Float
                | K::BigInt
                | K::Decimal
                | K::Date
                | K::Time
                | K::DateTime
                | K::String,
            ) => Some(kind),
            _ => None,
        }
    }
}
