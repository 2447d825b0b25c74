//! Checks the types of input object fields that contain rows of other tables.

use std::collections::HashSet;

use crate::schema::model::{ArgDef, InputDef, InputRole, TypeDef, TypeExpr, TypeIndex, TypeKind};
use crate::schema::{NestedVerb, WriteMeta};

/// The reason why a field below an input object does not fit, if there is one.
pub(super) fn check(types: &[TypeDef], write: WriteMeta, input: TypeIndex) -> Option<String> {
    let (mut open, mut seen) = (vec![input], HashSet::new());
    while let Some(index) = open.pop() {
        let TypeKind::Input(InputDef { fields, .. }) = &types[index].kind else {
            continue;
        };
        if !seen.insert(index) {
            continue;
        }

        for field in fields.values() {
            let Some(nested) = field.nested else { continue };
            if let Some(why) = misfit(types, nested.verb, field) {
                return Some(format!("`{}::{}` {why}", types[index].path, field.rust));
            }

            if nested.verb != NestedVerb::Row && !write.conflict.is_empty() && !write.replaces {
                let holder = format!("`{}::{}`", types[index].path, field.rust);
                return Some(format!(
                    "{holder} writes what belongs to a row that `on_conflict = nothing` would keep as it is"
                ));
            }

            open.push(field.ty.named());
        }
    }

    None
}

fn misfit(types: &[TypeDef], verb: NestedVerb, field: &ArgDef) -> Option<&'static str> {
    let is_object = match &types[field.ty.named()].kind {
        TypeKind::Input(input) => {
            if input.one_of || input.role != InputRole::Declared {
                return Some("holds rows, so its type is a struct with `#[svc_input]`");
            }
            true
        }
        _ => false,
    };

    let is_value = matches!(types[field.ty.named()].kind, TypeKind::Scalar { .. });
    match verb {
        NestedVerb::Row if !is_object || field.ty.is_list() => Some(
            "holds one row; give it the type of a struct with `#[svc_input]`, or write `rows` for a list",
        ),
        NestedVerb::Rows if !is_object || !is_list_of_values(&field.ty) => Some(
            "holds rows; give it a `Vec` of a struct with `#[svc_input]`, or write `row` for one",
        ),
        NestedVerb::Links if !is_value || !is_list_of_values(&field.ty) => {
            Some("links rows by their keys; give it a `Vec` of these, such as `Vec<Uuid>`")
        }
        _ => None,
    }
}

/// Whether the values of a type are lists without null items.
fn is_list_of_values(ty: &TypeExpr) -> bool {
    match ty {
        TypeExpr::NonNull(inner) => is_list_of_values(inner),
        TypeExpr::List(item) => item.is_non_null() && !item.is_list(),
        TypeExpr::Named(_) => false,
    }
}
