//! Checks of types: of all together, and of the arguments and orders of single ones.

pub(super) mod filters;
pub(super) mod inputs;
mod nested;
mod orders;
mod result_queries;
mod row_functions;
pub(super) mod writes;

use std::collections::HashMap;

use super::{Builder, member_names};
use crate::schema::error::SchemaError;
use crate::schema::model::{AbstractDef, FieldDef, ObjectDef, TypeDef, TypeExpr, TypeKind};

impl Builder {
    pub(super) fn check(&mut self) {
        self.check_type_names();
        self.errors.extend(inputs::endless(&self.types));

        for def in &self.types {
            // The specification requires at least one field of each object and input object.
            let empty = match &def.kind {
                TypeKind::Object(object) => object.fields.is_empty(),
                TypeKind::Input(input) => input.fields.is_empty(),
                _ => false,
            };

            if empty {
                self.errors.push(SchemaError::Empty {
                    path: def.path.clone(),
                });
            }

            if let TypeKind::Abstract(AbstractDef {
                fields: Some(fields),
                members,
                ..
            }) = &def.kind
            {
                for member in members {
                    let promises = fields
                        .values()
                        .filter_map(|field| broken(&self.types, *member, field));
                    self.errors
                        .extend(promises.map(|why| SchemaError::BrokenPromise {
                            member: self.types[*member].path.clone(),
                            interface: def.path.clone(),
                            why,
                        }));
                }
            }
        }
    }

    fn check_type_names(&mut self) {
        let mut seen: HashMap<&str, &TypeDef> = HashMap::new();
        for def in &self.types {
            match seen.get(def.name.as_str()) {
                // A clash of types generated for two types with the same name is a consequence of
                // that clash.
                Some(first) if first.path.starts_with("svc's") && first.path == def.path => {}
                Some(first) => self.errors.push(SchemaError::TypeClash {
                    name: def.name.clone(),
                    first: item(&self.types, first),
                    second: item(&self.types, def),
                }),
                None => {
                    seen.insert(&def.name, def);
                }
            }
        }
    }
}

/// The reason why a member does not implement `field` of an interface, if there is one.
fn broken(types: &[TypeDef], member: usize, field: &FieldDef) -> Option<String> {
    let TypeKind::Object(ObjectDef { fields, .. }) = &types[member].kind else {
        return Some("is not an object type".to_owned());
    };

    let Some(own) = fields.get(&field.name) else {
        return Some(format!("has no field `{}`", field.name));
    };
    if fits(types, &own.ty, &field.ty) {
        return None;
    }

    let (own, promised) = (show(types, &own.ty), show(types, &field.ty));

    Some(format!(
        "its field `{}` is `{own}` where `{promised}` is promised",
        field.name
    ))
}

/// Whether the type `own` is valid where `promised` is expected.
fn fits(types: &[TypeDef], own: &TypeExpr, promised: &TypeExpr) -> bool {
    // A field may promise more than the interface: non-null in place of nullable, or a member in
    // place of its interface or union (`IsValidImplementationFieldType` in the specification).
    match (own, promised) {
        (TypeExpr::NonNull(own), TypeExpr::NonNull(promised))
        | (TypeExpr::List(own), TypeExpr::List(promised)) => fits(types, own, promised),
        (TypeExpr::NonNull(own), promised) => fits(types, own, promised),
        (TypeExpr::Named(own), TypeExpr::Named(promised)) => {
            own == promised
                || matches!(&types[*promised].kind, TypeKind::Abstract(def) if def.members.contains(own))
        }
        _ => false,
    }
}

pub(super) fn show(types: &[TypeDef], ty: &TypeExpr) -> String {
    match ty {
        TypeExpr::Named(index) => member_names(types, &[*index]).concat(),
        TypeExpr::List(inner) => format!("[{}]", show(types, inner)),
        TypeExpr::NonNull(inner) => format!("{}!", show(types, inner)),
    }
}

/// The Rust item of a type, for messages. For a generated type, also the item that it is generated
/// for.
fn item(types: &[TypeDef], def: &TypeDef) -> String {
    let made = |def: &TypeDef| def.path.starts_with("svc's ");
    let is_for = |other: &&TypeDef| {
        !made(other) && other.name != def.name && def.name.starts_with(&other.name)
    };

    match types
        .iter()
        .filter(is_for)
        // The longest name: `UserPostWhere` is generated for `UserPost` and not for `User`.
        .max_by_key(|other| other.name.len())
    {
        Some(owner) if made(def) => format!("{}, made for {}", def.path, owner.path),
        _ => def.path.clone(),
    }
}
