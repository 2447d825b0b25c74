//! Variables of a request.

use std::collections::HashMap;

use async_graphql::{Name, Value};
use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::finish_object;
use super::leaf::{Origin, coerce_leaf};
use crate::schema::{TypeDef, TypeExpr, TypeKind};

/// Coerced variables by name; those that are absent and have no default are not there.
pub(crate) type Variables = HashMap<String, Value>;

/// A variable that an operation declares.
#[derive(Debug)]
pub(crate) struct VariableDef {
    pub(crate) name: String,
    pub(crate) ty: TypeExpr,
    /// The type as written.
    pub(crate) shown: String,
    pub(crate) default: Option<Value>,
    /// Where it stands in the document.
    pub(crate) offset: Option<usize>,
}

/// A variable whose value does not fit.
#[derive(Debug)]
pub(crate) struct VariableError {
    pub(crate) message: String,
    pub(crate) offset: Option<usize>,
}

/// Coerces what the client sent for the declared variables; all errors at once.
pub(crate) fn coerce_variables(
    types: &[TypeDef],
    defs: &[VariableDef],
    mut given: Map<String, Json>,
) -> Result<Variables, Vec<VariableError>> {
    let mut variables = Variables::with_capacity(defs.len());
    let mut errors = Vec::new();
    for def in defs {
        let result = match given.remove(&def.name) {
            None => match &def.default {
                Some(default) => Ok(Some(default.clone())),
                None if def.ty.is_non_null() => {
                    Err(format!("variable `${}` of required type `{}` was not provided", def.name, def.shown))
                }
                None => Ok(None),
            },
            Some(json) => coerce(types, &def.ty, json, &mut Trail::default())
                .map(Some)
                .map_err(|(at, why)| format!("variable `${}{at}` has an invalid value: {why}", def.name)),
        };
        match result {
            Ok(Some(value)) => {
                variables.insert(def.name.clone(), value);
            }
            Ok(None) => {}
            Err(message) => errors.push(VariableError { message, offset: def.offset }),
        }
    }
    if errors.is_empty() { Ok(variables) } else { Err(errors) }
}

/// Where in a variable the walk is.
#[derive(Default)]
struct Trail(Vec<String>);

impl Trail {
    fn fail<T>(&self, why: String) -> Result<T, (String, String)> {
        Err((self.0.concat(), why))
    }
}

fn coerce(types: &[TypeDef], ty: &TypeExpr, json: Json, trail: &mut Trail) -> Result<Value, (String, String)> {
    match ty {
        TypeExpr::NonNull(_) if json.is_null() => trail.fail("null is not allowed here".to_owned()),
        TypeExpr::NonNull(inner) => coerce(types, inner, json, trail),
        _ if json.is_null() => Ok(Value::Null),
        TypeExpr::List(inner) => match json {
            Json::Array(items) => {
                let mut out = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    trail.0.push(format!("[{index}]"));
                    out.push(coerce(types, inner, item, trail)?);
                    trail.0.pop();
                }
                Ok(Value::List(out))
            }
            single => Ok(Value::List(vec![coerce(types, inner, single, trail)?])),
        },
        TypeExpr::Named(index) => {
            let def = &types[*index];
            match (&def.kind, json) {
                (TypeKind::Input(_), Json::Object(fields)) => object(types, def, fields, trail),
                (TypeKind::Input(_), _) => trail.fail(format!("expected an object of `{}`", def.name)),
                (kind, json) => Value::from_json(json)
                    .map_err(|error| error.to_string())
                    .and_then(|value| coerce_leaf(kind, &def.name, value, Origin::Variable))
                    .or_else(|why| trail.fail(why)),
            }
        }
    }
}

fn object(
    types: &[TypeDef],
    def: &TypeDef,
    fields: Map<String, Json>,
    trail: &mut Trail,
) -> Result<Value, (String, String)> {
    let TypeKind::Input(input) = &def.kind else { return trail.fail(format!("`{}` is no input object", def.name)) };
    let mut given = IndexMap::with_capacity(fields.len());
    for (name, json) in fields {
        let Some(field) = input.fields.get(&name) else {
            let name = crate::scalar::shorten(&name);
            return trail.fail(format!("`{}` has no field `{name}`", def.name));
        };
        trail.0.push(format!(".{name}"));
        given.insert(Name::new(&field.rust), coerce(types, &field.ty, json, trail)?);
        trail.0.pop();
    }
    match finish_object(input, &def.name, given) {
        Ok(fields) => Ok(Value::Object(fields)),
        Err(why) => trail.fail(why),
    }
}
