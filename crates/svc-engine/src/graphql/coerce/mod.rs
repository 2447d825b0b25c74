//! Values from clients, checked and completed by the schema: variables, literals, arguments.
//!
//! Coerced input objects have the Rust names as keys, in the client's order.

mod leaf;
mod lifted;
mod literal;
mod name_map;
mod variables;

pub(crate) use lifted::LiftedLiterals;
pub(crate) use literal::Literal;
pub use literal::coerce_literal;
pub(crate) use name_map::NameMap;
pub use variables::SentVariables;
pub(crate) use variables::{VariableDef, VariableError, Variables, coerce_variables, condition};

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use svc_core::schema::{InputDef, TypeDef, TypeExpr};

/// The message for null where a value is required.
#[cold]
fn null_refused(types: &[TypeDef], inner: &TypeExpr) -> String {
    match inner {
        TypeExpr::Named(index) => format!("`{}`: null is not allowed here", types[*index].name),
        _ => "null is not allowed here".to_owned(),
    }
}

/// Adds defaults, checks required fields and `@oneOf`; `given` is keyed by Rust names.
fn finish_object(
    def: &InputDef,
    type_name: &str,
    mut given: IndexMap<Name, Value>,
) -> Result<IndexMap<Name, Value>, String> {
    for (name, field) in &def.fields {
        if given.contains_key(field.rust.as_str()) {
            continue;
        }
        if let Some(default) = &field.default {
            given.insert(Name::new(&field.rust), default.value.clone());
        } else if field.ty.is_non_null() {
            return Err(format!("field `{name}` of `{type_name}` is required"));
        }
    }

    if def.one_of && (given.len() != 1 || given.values().any(|value| *value == Value::Null)) {
        return Err(format!(
            "exactly one field of `{type_name}` must be given, and not null"
        ));
    }

    Ok(given)
}
