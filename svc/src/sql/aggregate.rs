//! Aggregates, and the forms in which typed values are read.

use tokio_postgres::types::Type;

use super::column::ColumnForm;
use super::operand::Operand;
use crate::schema::{AggregateFunction, ScalarKind, TypeKind};

/// The form in which a value of a scalar or enum is read when it is not a plain column.
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
            // A number may be beyond its scalar, which must not fail the statement.
            K::Int | K::BigInt | K::Float | K::Decimal => ColumnForm::Text,
            K::String | K::Id | K::Custom(_) => ColumnForm::Text,
            K::Json => return None,
        },
        _ => return None,
    })
}

impl Operand {
    /// The value, or what was computed of values of its type, in a form.
    pub(super) fn shown(&self, sql: &str, form: ColumnForm) -> String {
        // A cast to text would take the blanks at the end, which a column has when it is read.
        if form == ColumnForm::Text && self.is_bare(&Type::BPCHAR) {
            return format!("textin(bpcharout({sql}))");
        }
        format!("({sql})::{}", form.sql_type())
    }

    /// An aggregate of the values.
    pub(super) fn aggregate(&self, function: AggregateFunction, careful: bool) -> String {
        use AggregateFunction as F;
        // A `real` means its decimal, and its sums would be rounded to another. Sums of doubles may be beyond a double,
        // which only their reader can tell of one value alone.
        let is_exact = self.is_bare(&Type::FLOAT4) || (careful && self.is_bare(&Type::FLOAT8));
        let cast = if is_exact && matches!(function, F::Sum | F::Avg) { "::text::numeric" } else { "" };
        let name = match function {
            F::CountDistinct => return format!("count(DISTINCT {})", self.sql),
            // PostgreSQL has no aggregate of these; their texts are in the same order.
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
