//! The fields of a type by kind.

use crate::schema::Shape;
use crate::schema::model::{
    FieldDef, FieldKind, Relation, TypeDef, TypeExpr, TypeIndex, TypeKind, is_stored_as,
};

/// The stored fields of all rows of this type.
pub(in crate::schema) fn stored_fields(types: &[TypeDef], row: TypeIndex) -> Vec<&FieldDef> {
    match &types[row].kind {
        TypeKind::Object(object) => object
            .fields
            .values()
            .filter(|field| matches!(field.kind, FieldKind::Stored { .. }))
            .collect(),
        TypeKind::Abstract(abstract_type) => {
            let Some(fields) = &abstract_type.fields else {
                return Vec::new();
            };

            let Some(first) = abstract_type.members.first() else {
                return Vec::new();
            };

            // Conditions and orders read one column of the rows, regardless of their member type.
            let shared = |field: &&FieldDef| {
                let is_same =
                    |other: &&FieldDef| other.name == field.name && is_stored_as(other, field);
                abstract_type
                    .members
                    .iter()
                    .all(|member| stored_fields(types, *member).iter().any(is_same))
            };

            stored_fields(types, *first)
                .into_iter()
                .filter(|field| fields.contains_key(&field.name))
                .filter(shared)
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The relations of all rows of this type. For an interface, its relations that are the same in
/// each member.
pub(in crate::schema) fn relations(
    types: &[TypeDef],
    row: TypeIndex,
) -> Vec<(&FieldDef, Relation)> {
    match &types[row].kind {
        TypeKind::Object(object) => {
            let relation = |field: &'_ FieldDef| match field.kind {
                FieldKind::Relation(relation) if !relation.is_derived() => Some(relation),
                _ => None,
            };
            object
                .fields
                .values()
                .filter_map(|field| Some((field, relation(field)?)))
                .collect()
        }
        TypeKind::Abstract(abstraction) => {
            let Some(fields) = &abstraction.fields else {
                return Vec::new();
            };

            let Some((first, others)) = abstraction.members.split_first() else {
                return Vec::new();
            };

            let has = |member: TypeIndex, field: &FieldDef, relation: Relation| {
                let same = |(other, there): (&FieldDef, Relation)| {
                    other.rust == field.rust && there.leads_as(relation)
                };
                relations(types, member).into_iter().any(same)
            };

            let promised = relations(types, *first)
                .into_iter()
                .filter(|(field, _)| fields.contains_key(&field.name));

            promised
                .filter(|(field, relation)| {
                    others.iter().all(|member| has(*member, field, *relation))
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The aggregate fields derived from an object type's relations.
pub(in crate::schema) fn aggregates(
    types: &[TypeDef],
    row: TypeIndex,
) -> Vec<(&FieldDef, Relation)> {
    let TypeKind::Object(object) = &types[row].kind else {
        return Vec::new();
    };

    let aggregate = |field: &'_ FieldDef| match field.kind {
        FieldKind::Relation(relation) if relation.shape == Shape::Aggregate => Some(relation),
        _ => None,
    };

    object
        .fields
        .values()
        .filter_map(|field| Some((field, aggregate(field)?)))
        .collect()
}

/// The fields of an object type that functions of the database compute from its rows.
pub(in crate::schema) fn row_functions(
    types: &[TypeDef],
    row: TypeIndex,
) -> impl Iterator<Item = &FieldDef> {
    let fields = match &types[row].kind {
        TypeKind::Object(object) => Some(object.fields.values()),
        _ => None,
    };
    fields
        .into_iter()
        .flatten()
        .filter(|field| matches!(field.kind, FieldKind::Function(..)))
}

/// Whether values of a type are scalars, enums, or lists of them.
pub(in crate::schema) fn is_leaf(types: &[TypeDef], ty: &TypeExpr) -> bool {
    !matches!(
        types[ty.named()].kind,
        TypeKind::Object(_) | TypeKind::Abstract(_)
    )
}
