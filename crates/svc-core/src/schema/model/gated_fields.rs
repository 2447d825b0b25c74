//! Gated fields, and the other fields that reveal their values.

use super::{FieldDef, FieldKind, Gated, Model, TypeDef, TypeIndex, TypeKind};

impl Model {
    /// The gate of the keys of a type's rows.
    pub fn gate_of_keys(&self, row: TypeIndex) -> Option<Gated> {
        gate_of_stored(&self.types, row, "id")
    }

    /// The gated fields that a gate refers to, each with its type.
    pub fn gated_fields(&self, gated: Gated) -> Vec<(&TypeDef, &FieldDef)> {
        let fields = match gated {
            Gated::Field { of, rust } => same_fields(&self.types, of, rust),
            Gated::AllOf(of) => member_fields(&self.types, of),
            Gated::Document { of, rust, entity } => {
                let mut fields = same_fields(&self.types, of, rust);
                fields.extend(member_fields(&self.types, entity));
                fields
            }
            Gated::Everything => (0..self.types.len())
                .filter(|index| self.object(*index).is_some())
                .flat_map(|index| member_fields(&self.types, index))
                .collect(),
        };

        let fields = fields
            .into_iter()
            .filter(|(_, field)| field.has_gate() || field.is_checked());

        fields
            .map(|(index, field)| (&self.types[index], field))
            .collect()
    }
}

/// The fields that reveal the value of a field in rows of this type. For an interface these are the
/// fields of its members with that Rust name, and the fields with the GraphQL name or the column of
/// one of them.
pub(in crate::schema) fn same_fields<'t>(
    types: &'t [TypeDef],
    row: TypeIndex,
    rust: &str,
) -> Vec<Member<'t>> {
    let mut fields = member_fields(types, row);
    let is_named = |field: &FieldDef| field.rust == rust;
    if let TypeKind::Abstract(_) = types[row].kind {
        let named: Vec<_> = fields
            .iter()
            .map(|(_, field)| *field)
            .filter(|field| is_named(field))
            .collect();

        let is_same = |known: &FieldDef, field: &FieldDef| {
            known.name == field.name || is_stored_as(known, field)
        };

        fields.retain(|(_, field)| {
            is_named(field) || named.iter().any(|known| is_same(known, field))
        });
    } else {
        fields.retain(|(_, field)| is_named(field));
    }

    fields
}

/// A field, with the object type that contains it.
pub(in crate::schema) type Member<'t> = (TypeIndex, &'t FieldDef);

/// The fields of the possible object types of a type.
pub(in crate::schema) fn member_fields(types: &[TypeDef], row: TypeIndex) -> Vec<Member<'_>> {
    let members = match &types[row].kind {
        TypeKind::Abstract(abstraction) => abstraction.members.as_slice(),
        _ => &[row],
    };

    let objects = members
        .iter()
        .filter_map(|index| match &types[*index].kind {
            TypeKind::Object(object) => Some((*index, object)),
            _ => None,
        });

    objects
        .flat_map(|(index, object)| object.fields.values().map(move |field| (index, field)))
        .collect()
}

/// Whether two fields contain the value of the same column.
pub(in crate::schema) fn is_stored_as(one: &FieldDef, other: &FieldDef) -> bool {
    match (one.kind, other.kind) {
        (FieldKind::Stored { stored, .. }, FieldKind::Stored { stored: other, .. }) => {
            stored == other
        }
        _ => false,
    }
}

/// The gate of a field in rows of this type; for an interface, one gate covers all its members.
pub(in crate::schema) fn gate_of(types: &[TypeDef], row: TypeIndex, rust: &str) -> Option<Gated> {
    let gated = same_fields(types, row, rust)
        .into_iter()
        .find_map(|(_, field)| field.gated)?;
    Some(if let Gated::Field { rust, .. } = gated {
        Gated::Field { of: row, rust }
    } else {
        gated
    })
}

/// Whether a field has checks in rows of this type, or in any member of an interface.
pub(crate) fn is_checked(types: &[TypeDef], row: TypeIndex, rust: &str) -> bool {
    same_fields(types, row, rust)
        .into_iter()
        .any(|(_, field)| field.is_checked())
}

/// The gate of a stored value in rows of this type, regardless of the names of the fields that
/// contain it; `None` if an ungated field reveals the value, or if no field contains it.
pub(in crate::schema) fn gate_of_stored(
    types: &[TypeDef],
    row: TypeIndex,
    column: &str,
) -> Option<Gated> {
    let holds = |field: &FieldDef| matches!(field.kind, FieldKind::Stored { stored, .. } if stored == column);
    let is_closed = |field: &FieldDef| field.gated.is_some() || field.is_checked();
    let mut holding = member_fields(types, row);

    holding.retain(|(_, field)| holds(field));

    // A member with an ungated field only exposes the value in its own rows.
    let open: Vec<_> = holding
        .iter()
        .filter(|(_, field)| !is_closed(field))
        .map(|(member, _)| *member)
        .collect();

    holding.retain(|(member, _)| !open.contains(member));

    // `AllOf` is denied if it contains a checked field, because a check needs an object to decide
    // on.
    match holding.iter().any(|(_, field)| field.is_checked()) {
        true => Some(Gated::AllOf(row)),
        false => holding
            .first()
            .and_then(|(_, field)| gate_of(types, row, field.rust)),
    }
}
