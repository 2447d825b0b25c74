//! The fields where errors end although their types are non-null: the schema shows them as
//! nullable, with `@semanticNonNull`.

use std::collections::HashSet;

use super::Builder;
use crate::schema::model::{FieldDef, FieldKind, TypeDef, TypeKind};

impl Builder {
    /// Marks the non-null fields that a denial or the program's code may replace with an error. The
    /// type of a field stays non-null, so a null without an error is still an error.
    pub(super) fn mark_boundaries(&mut self) {
        if !self.dialect.semantic_non_null {
            return;
        }

        for def in &mut self.types {
            if let TypeKind::Object(object) = &mut def.kind {
                for field in object.fields.values_mut() {
                    field.is_boundary = field.ty.is_non_null() && may_fail(field);
                }
            }
        }

        for index in 0..self.types.len() {
            let nullable = nullable_in_members(&self.types, &self.types[index]);
            if let TypeKind::Abstract(abstraction) = &mut self.types[index].kind {
                for field in abstraction
                    .fields
                    .iter_mut()
                    .flat_map(|fields| fields.values_mut())
                {
                    field.is_boundary = field.ty.is_non_null() && nullable.contains(&field.name);
                }
            }
        }
    }
}

/// Whether a field may have an error that is not a fault of its stored value.
fn may_fail(field: &FieldDef) -> bool {
    match field.kind {
        // Clients rely on the types that Relay specifies for pages.
        FieldKind::Part(_) | FieldKind::NodeId { .. } | FieldKind::Query | FieldKind::Promised => {
            false
        }
        // A row policy may hide the row of a value in memory, for which a function is computed.
        FieldKind::Root(..) | FieldKind::Method(..) | FieldKind::Function(..) => true,
        // A row policy may hide the row.
        FieldKind::Relation(relation) if !relation.is_many() => true,
        FieldKind::Stored { .. } | FieldKind::Relation(_) => {
            field.gated.is_some() || field.is_checked()
        }
    }
}

/// The names of the fields that a member of an abstract type shows as nullable. The type must not
/// promise more than its members.
fn nullable_in_members(types: &[TypeDef], def: &TypeDef) -> HashSet<String> {
    let TypeKind::Abstract(abstraction) = &def.kind else {
        return HashSet::new();
    };

    let members = abstraction
        .members
        .iter()
        .map(|member| &types[*member].kind);
    let fields = members.filter_map(|kind| match kind {
        TypeKind::Object(object) => Some(object.fields.values()),
        _ => None,
    });

    fields
        .flatten()
        .filter(|field| field.is_boundary)
        .map(|field| field.name.clone())
        .collect()
}
