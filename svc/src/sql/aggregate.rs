//! The forms in which typed values are read.

use super::column::ColumnForm;
use crate::schema::{ScalarKind, TypeKind};

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
