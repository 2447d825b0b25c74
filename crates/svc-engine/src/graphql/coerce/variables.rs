//! Variables of a request.

use std::sync::Arc;

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use super::leaf::{Origin, coerce_leaf, coerce_number, json_argument};
use super::{NameMap, finish_object, null_refused};
use crate::graphql::heap_size;
use svc_core::exact_json::{ExactJson as Json, Fields};
use svc_core::schema::{InputDef, ScalarKind, TypeDef, TypeExpr, TypeKind};

/// Coerced variables by name, without absent variables that have no default.
pub(crate) type Variables = NameMap<Arc<str>, Value>;

/// The variables as a client sent them.
pub type SentVariables = NameMap<String, Json>;

/// A variable that an operation declares.
#[derive(Debug)]
pub(crate) struct VariableDef {
    pub(crate) name: Arc<str>,
    pub(crate) ty: TypeExpr,
    /// The type as written.
    pub(crate) shown: String,
    pub(crate) default: Option<Value>,
    /// The offset of its declaration in the document.
    pub(crate) offset: Option<usize>,
}

impl VariableDef {
    /// The size in bytes.
    pub(crate) fn weight(&self) -> usize {
        let default = self.default.as_ref().map_or(0, heap_size::value);
        let texts = heap_size::text(&self.name) + heap_size::text(&self.shown);
        size_of::<Self>() + texts + heap_size::type_expr(&self.ty) + default
    }

    #[cold]
    #[inline(never)]
    fn absent(&self) -> String {
        format!(
            "variable `${}` of required type `{}` was not provided",
            self.name, self.shown
        )
    }

    #[cold]
    #[inline(never)]
    fn invalid(&self, Refused { at, why }: Refused) -> String {
        format!("variable `${}{at}` has an invalid value: {why}", self.name)
    }
}

/// A variable whose value does not fit.
#[derive(Debug)]
pub(crate) struct VariableError {
    pub(crate) message: String,
    pub(crate) offset: Option<usize>,
}

/// Coerces the values that the client sent for the declared variables. Returns at most `most`
/// errors.
pub(crate) fn coerce_variables(
    types: &[TypeDef],
    defs: &[VariableDef],
    mut given: SentVariables,
    most: usize,
) -> Result<Variables, Vec<VariableError>> {
    let mut variables = Vec::with_capacity(defs.len());
    let mut errors = Vec::new();
    for def in defs {
        let result = match given.take(&def.name) {
            None => match &def.default {
                Some(default) => Ok(Some(default.clone())),
                None if def.ty.is_non_null() => Err(def.absent()),
                None => Ok(None),
            },
            Some(json) => match coerce(types, &def.ty, json) {
                Ok(value) => Ok(Some(value)),
                Err(refused) => Err(def.invalid(refused)),
            },
        };

        match result {
            Ok(Some(value)) => variables.push((def.name.clone(), value)),
            Ok(None) => {}
            Err(message) => errors.push(VariableError {
                message,
                offset: def.offset,
            }),
        }

        // With a limit of zero, the loop would otherwise end without an error, and the remaining
        // variables would be accepted unchecked.
        if errors.len() >= most.max(1) {
            break;
        }
    }

    if errors.is_empty() {
        Ok(NameMap::new(variables))
    } else {
        Err(errors)
    }
}

/// A value that does not fit, and its path. The path is built only if there is one.
struct Refused {
    at: String,
    why: String,
}

impl Refused {
    fn below(mut self, step: impl std::fmt::Display) -> Self {
        self.at = format!("{step}{}", self.at);
        self
    }
}

#[cold]
fn refuse<T>(why: String) -> Result<T, Refused> {
    Err(Refused {
        at: String::new(),
        why,
    })
}

fn coerce(types: &[TypeDef], ty: &TypeExpr, json: Json) -> Result<Value, Refused> {
    match ty {
        TypeExpr::NonNull(inner) if json.is_null() => refuse(null_refused(types, inner)),
        TypeExpr::NonNull(inner) => coerce(types, inner, json),
        _ if json.is_null() => Ok(Value::Null),
        TypeExpr::List(inner) => match json {
            Json::Array(items) => {
                let items = items.into_iter().enumerate().map(|(index, item)| {
                    coerce(types, inner, item)
                        .map_err(|refused| refused.below(format_args!("[{index}]")))
                });
                items.collect::<Result<_, _>>().map(Value::List)
            }
            single => Ok(Value::List(vec![coerce(types, inner, single)?])),
        },
        TypeExpr::Named(index) => {
            let def = &types[*index];
            match (&def.kind, json) {
                (TypeKind::Input(input), Json::Object(fields)) => {
                    object(types, &def.name, input, fields)
                }
                (TypeKind::Input(_), _) => refuse(format!("expected an object of `{}`", def.name)),
                (
                    TypeKind::Scalar {
                        kind: ScalarKind::Json,
                        ..
                    },
                    json,
                ) => json_argument(json).or_else(refuse),
                (kind, Json::Number(number)) => {
                    coerce_number(kind, &def.name, &number, Origin::Variable).or_else(refuse)
                }
                (kind, json) => {
                    let value = json.nearest_value().map_err(|error| error.to_string());
                    value
                        .and_then(|value| coerce_leaf(kind, &def.name, value, Origin::Variable))
                        .or_else(refuse)
                }
            }
        }
    }
}

fn object(
    types: &[TypeDef],
    name: &str,
    input: &InputDef,
    fields: Fields,
) -> Result<Value, Refused> {
    let mut given = IndexMap::with_capacity(fields.len());
    for (key, json) in fields.into_iter() {
        let Some(field) = input.fields.get(&key) else {
            return refuse(format!(
                "`{name}` has no field `{}`",
                svc_core::exact_json::shorten(&key)
            ));
        };
        let value = coerce(types, &field.ty, json)
            .map_err(|refused| refused.below(format_args!(".{key}")))?;
        given.insert(Name::new(&field.rust), value);
    }

    finish_object(input, name, given)
        .map(Value::Object)
        .or_else(refuse)
}

/// The value of a condition's variable. Validation ensures that it is a Boolean, but one with a
/// default may be passed as null.
pub(crate) fn condition(variables: &Variables, name: &str) -> Option<bool> {
    match variables.get(name) {
        Some(async_graphql::Value::Boolean(value)) => Some(*value),
        _ => None,
    }
}
