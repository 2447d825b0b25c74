//! Arguments of functions without a body against the fields that they filter on.

use crate::schema::ScalarKind;
use crate::schema::model::{TypeDef, TypeExpr, TypeIndex, TypeKind};

/// Whether a field of type `field` can be compared with an argument of type `given`.
pub(super) fn fit(types: &[TypeDef], given: &TypeExpr, field: &TypeExpr) -> bool {
    if matches!(types[field.named()].kind, TypeKind::Scalar { kind: ScalarKind::Json, .. }) {
        return true;
    }
    // A list means one of its values, for a field that is a list too.
    let shapes_fit = match (depth(given), depth(field)) {
        (0 | 1, 0) => true,
        (given, field) => given == field,
    };
    shapes_fit && values_fit(types, given.named(), field.named())
}

fn depth(ty: &TypeExpr) -> usize {
    match ty {
        TypeExpr::Named(_) => 0,
        TypeExpr::List(inner) => depth(inner) + 1,
        TypeExpr::NonNull(inner) => depth(inner),
    }
}

/// Types whose values PostgreSQL compares without an error for any of them, and ids of whatever is one.
fn values_fit(types: &[TypeDef], given: TypeIndex, field: TypeIndex) -> bool {
    use ScalarKind::{BigInt, Decimal, Float, Id, Int, Uuid};

    let scalar = |index: TypeIndex| match &types[index].kind {
        TypeKind::Scalar { kind, .. } => Some(*kind),
        _ => None,
    };
    given == field
        || match (scalar(given), scalar(field)) {
            (Some(Int | BigInt | Float | Decimal), Some(Int | BigInt | Float | Decimal)) => true,
            (Some(Id), Some(Uuid | Int | BigInt)) => true,
            _ => is_text(&types[given]) && is_text(&types[field]) && !both_enums(&types[given], &types[field]),
        }
}

fn is_text(def: &TypeDef) -> bool {
    match &def.kind {
        TypeKind::Enum(_) => true,
        TypeKind::Scalar { kind: ScalarKind::String | ScalarKind::Id, .. } => true,
        TypeKind::Scalar { kind: ScalarKind::Custom(custom), .. } => custom.sql_type == "text",
        _ => false,
    }
}

fn both_enums(one: &TypeDef, other: &TypeDef) -> bool {
    matches!((&one.kind, &other.kind), (TypeKind::Enum(_), TypeKind::Enum(_)))
}
