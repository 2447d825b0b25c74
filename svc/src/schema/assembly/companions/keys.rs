//! Conditions on the keys of relations: `authorId` beside `author`.

use super::{Companions, field, gate_of, is_checked, relations, stored_fields};
use crate::schema::family;
use crate::schema::model::{ArgDef, FieldDef, FieldKind, Gated, TypeDef, TypeExpr, TypeIndex, TypeKind};

/// A key by which rows may be chosen.
struct Key {
    name: String,
    /// The relation and the field there, which no field of a struct is called.
    rust: String,
    leaf: TypeIndex,
    gated: Option<Gated>,
}

impl Companions<'_> {
    /// Adds the conditions on the keys of relations to one row, where the type has no field of such a name.
    pub(super) fn key_conditions(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex, fields: &mut Vec<ArgDef>) {
        for Key { name, rust, leaf, gated } in self.relation_keys(types, row) {
            let reserved = ["AND", "OR", "NOT"];
            if reserved.contains(&&*name) || fields.iter().any(|field| field.name == name) {
                continue;
            }
            let family = family(&types[leaf].kind);
            let ty = TypeExpr::Named(self.filter_type(types, leaf, family));
            fields.push(ArgDef { gated, ..field(&name, &rust, ty) });
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
            let (_, to) = relation.only_key().filter(|(from, _)| !declares(types, row, from))?;
            let there = stored_fields(types, relation.row).into_iter().find(|field| is_stored(field, to))?;
            is_open(types, relation.row, there).then(|| key(field, there))
        });
        keys.collect()
    }
}

/// Whether a type, or a member of an interface, has a field of its own for a column. What gates or masks that field has,
/// and what it is called, is for the program to say.
fn declares(types: &[TypeDef], row: TypeIndex, column: &str) -> bool {
    match &types[row].kind {
        TypeKind::Object(object) => object.fields.values().any(|field| is_stored(field, column)),
        TypeKind::Abstract(abstraction) => abstraction.members.iter().any(|member| declares(types, *member, column)),
        _ => false,
    }
}

fn is_stored(field: &FieldDef, column: &str) -> bool {
    matches!(field.kind, FieldKind::Stored { stored, .. } if stored == column)
}

/// Whether a field holds one value that anybody may learn who may see its row.
fn is_open(types: &[TypeDef], row: TypeIndex, field: &FieldDef) -> bool {
    let is_leaf = matches!(types[field.ty.named()].kind, TypeKind::Scalar { .. } | TypeKind::Enum(_));
    is_leaf && !field.ty.is_list() && gate_of(types, row, field.rust).is_none() && !is_checked(types, row, field.rust)
}
