//! Aggregates, and the binary forms of typed values.

use tokio_postgres::types::Type;

use super::column::ColumnForm;
use super::operand::Operand;
use svc_core::schema::{AggregateFunction, ScalarKind, TypeKind};

/// The binary form of a scalar or enum that is not read from a plain column.
pub(crate) fn value_form(kind: &TypeKind) -> Option<ColumnForm> {
    use ScalarKind as K;

    Some(match kind {
        TypeKind::Enum(_) => ColumnForm::Text,
        TypeKind::Scalar { kind, .. } => match kind {
            K::Boolean => ColumnForm::Bool,
            K::Uuid => ColumnForm::Uuid,
            K::DateTime => ColumnForm::Instant,
            K::Date => ColumnForm::Date,
            K::Time => ColumnForm::Time,
            // A number may be out of its scalar's range, which must not fail the statement.
            K::Int | K::BigInt | K::Float | K::Decimal => ColumnForm::Text,
            K::String | K::Id | K::Custom(_) => ColumnForm::Text,
            K::Json => return None,
        },
        _ => return None,
    })
}

impl Operand {
    /// The value, or an aggregate of the same type, in a form.
    pub(in crate::sql) fn shown(&self, sql: &str, form: ColumnForm) -> String {
        // A cast to text would strip trailing blanks, which reading the column keeps.
        if form == ColumnForm::Text && self.is_bare(&Type::BPCHAR) {
            return format!("textin(bpcharout({sql}))");
        }
        format!("({sql})::{}", form.sql_type())
    }

    /// An aggregate of the values.
    pub(in crate::sql) fn aggregate(&self, function: AggregateFunction, careful: bool) -> String {
        use AggregateFunction as F;

        // A `real` represents its decimal text, but a sum of `real` would be rounded to another
        // decimal. A sum of doubles may exceed a double; only the code that reads the result can
        // report that for a single value.
        let is_exact = self.is_bare(&Type::FLOAT4) || (careful && self.is_bare(&Type::FLOAT8));
        let cast = if is_exact && matches!(function, F::Sum | F::Avg) {
            "::text::numeric"
        } else {
            ""
        };

        let name = match function {
            F::CountDistinct => return format!("count(DISTINCT {})", self.sql),
            // PostgreSQL has no such aggregate of UUIDs; their texts sort in the same order.
            F::Min | F::Max if self.is_bare(&Type::UUID) => {
                let name = if function == F::Min { "min" } else { "max" };
                return format!("{name}({}::text)::uuid", self.sql);
            }
            F::Sum => "sum",
            F::Avg => "avg",
            F::Min => "min",
            F::Max => "max",
        };

        format!("{name}({}{cast})", self.sql)
    }

    fn is_bare(&self, ty: &Type) -> bool {
        self.bare == Some(ty.oid())
    }
}
