//! Checks the arguments of functions without a body against the fields that they filter on.

use crate::schema::ScalarKind;
use crate::schema::model::{TypeDef, TypeExpr, TypeIndex, TypeKind};

/// Whether a field of type `field` can be compared with an argument of type `given`.
pub(in crate::schema::assembly) fn fit(
    types: &[TypeDef],
    given: &TypeExpr,
    field: &TypeExpr,
) -> bool {
    // JSON can contain a value of any type.
    if matches!(
        types[field.named()].kind,
        TypeKind::Scalar {
            kind: ScalarKind::Json,
            ..
        }
    ) {
        return true;
    }

    // A list argument matches any of its values, also if the field is a list.
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

/// Whether PostgreSQL can compare all values of the types without an error. Ids can be compared
/// with any type of id.
fn values_fit(types: &[TypeDef], given: TypeIndex, field: TypeIndex) -> bool {
    use ScalarKind::{BigInt, Decimal, Float, Id, Int, Uuid};

    let scalar = |index: TypeIndex| match &types[index].kind {
        TypeKind::Scalar { kind, .. } => Some(*kind),
        _ => None,
    };

    given == field
        || match (scalar(given), scalar(field)) {
            // PostgreSQL compares all types of numbers with each other.
            (Some(Int | BigInt | Float | Decimal), Some(Int | BigInt | Float | Decimal)) => true,
            (Some(Id), Some(Uuid | Int | BigInt)) => true,
            _ => {
                is_text(&types[given])
                    && is_text(&types[field])
                    // The texts of two enums have nothing in common, so such a filter would never
                    // match.
                    && !both_enums(&types[given], &types[field])
            }
        }
}

fn is_text(def: &TypeDef) -> bool {
    match &def.kind {
        TypeKind::Enum(_) => true,
        TypeKind::Scalar {
            kind: ScalarKind::String | ScalarKind::Id,
            ..
        } => true,
        TypeKind::Scalar {
            kind: ScalarKind::Custom(custom),
            ..
        } => custom.sql_type == "text",
        _ => false,
    }
}

fn both_enums(one: &TypeDef, other: &TypeDef) -> bool {
    matches!(
        (&one.kind, &other.kind),
        (TypeKind::Enum(_), TypeKind::Enum(_))
    )
}
