//! Conditions on the keys of relations, such as `authorId` for `author`.

use super::inputs::field;
use super::{Companions, gate_of, is_checked, relations, stored_fields};
use crate::schema::family;
use crate::schema::model::{
    ArgDef, FieldDef, FieldKind, Gated, TypeDef, TypeExpr, TypeIndex, TypeKind,
};

/// A relation key that rows can be filtered by.
struct Key {
    name: String,
    /// The names of the relation and of the field on the other side; no struct field has such a
    /// name.
    rust: String,
    leaf: TypeIndex,
    gated: Option<Gated>,
}

impl Companions<'_> {
    /// Adds the conditions on the keys of to-one relations, unless the type has a field with the
    /// same name.
    pub(super) fn key_conditions(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
        fields: &mut Vec<ArgDef>,
    ) {
        for Key {
            name,
            rust,
            leaf,
            gated,
        } in self.relation_keys(types, row)
        {
            // Logical operators and declared fields take precedence over a derived condition.
            let reserved = ["AND", "OR", "NOT"];
            if reserved.contains(&&*name) || fields.iter().any(|field| field.name == name) {
                continue;
            }
            let family = family(&types[leaf].kind);
            let ty = TypeExpr::Named(self.filter_type(types, leaf, family));
            fields.push(ArgDef {
                gated,
                ..field(&name, &rust, ty)
            });
        }
    }

    fn relation_keys(&self, types: &[TypeDef], row: TypeIndex) -> Vec<Key> {
        let key = |field: &FieldDef, there: &FieldDef| Key {
            name: self.naming.apply(&format!("{}_{}", field.name, there.name)),
            rust: format!("{}.{}", field.rust, there.rust),
            leaf: there.ty.named(),
            gated: gate_of(types, row, field.rust),
        };

        let to_one = relations(types, row)
            .into_iter()
            .filter(|(field, relation)| !relation.is_many() && !is_checked(types, row, field.rust));
        let keys = to_one.filter_map(|(field, relation)| {
            let (_, to) = relation
                .only_key()
                .filter(|(from, _)| !declares(types, row, from))?;
            let there = stored_fields(types, relation.row)
                .into_iter()
                .find(|field| is_stored(field, to))?;

            // The condition is gated like the relation; a restricted key on the other side would
            // need a second gate.
            is_open(types, relation.row, there).then(|| key(field, there))
        });

        keys.collect()
    }
}

/// Whether a type, or a member of an interface, declares a field for a column. The program then
/// determines that field's name, gates and masks.
fn declares(types: &[TypeDef], row: TypeIndex, column: &str) -> bool {
    match &types[row].kind {
        TypeKind::Object(object) => object.fields.values().any(|field| is_stored(field, column)),
        TypeKind::Abstract(abstraction) => abstraction
            .members
            .iter()
            .any(|member| declares(types, *member, column)),
        _ => false,
    }
}

fn is_stored(field: &FieldDef, column: &str) -> bool {
    matches!(field.kind, FieldKind::Stored { stored, .. } if stored == column)
}

/// Whether a field is a single value that anyone with access to its row may see.
fn is_open(types: &[TypeDef], row: TypeIndex, field: &FieldDef) -> bool {
    let is_leaf = matches!(
        types[field.ty.named()].kind,
        TypeKind::Scalar { .. } | TypeKind::Enum(_)
    );
    is_leaf
        && !field.ty.is_list()
        && gate_of(types, row, field.rust).is_none()
        && !is_checked(types, row, field.rust)
}
