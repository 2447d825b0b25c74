//! Literals in documents, possibly with variables inside.

use apollo_compiler::ast;
use async_graphql::{Name, Value};
use indexmap::IndexMap;

use super::leaf::{Origin, coerce_leaf, coerce_number, json_argument};
use super::{Variables, finish_object, null_refused};
use svc_core::exact_json::{ExactJson, ExactNumber};
use svc_core::schema::{ScalarKind, TypeDef, TypeExpr, TypeKind};

/// Coerces a literal without variables.
pub fn coerce_literal(
    types: &[TypeDef],
    ty: &TypeExpr,
    value: &ast::Value,
) -> Result<Value, String> {
    Literal {
        types,
        variables: None,
    }
    .coerce(ty, value)?
    .ok_or_else(|| "a variable cannot stand here".to_owned())
}

/// Coerces literals. Without variables, a literal that contains one yields `None`.
pub(crate) struct Literal<'a> {
    pub(crate) types: &'a [TypeDef],
    pub(crate) variables: Option<&'a Variables>,
}

impl<'a> Literal<'a> {
    /// The value of a variable that fills a whole position, or `None` if it is absent. Validation
    /// has compared its type with the position, and its value is already coerced.
    pub(crate) fn variable(&self, ty: &TypeExpr, name: &str) -> Result<Option<&'a Value>, String> {
        match self.variables.and_then(|variables| variables.get(name)) {
            Some(Value::Null) | None if ty.is_non_null() && self.variables.is_some() => Err(
                format!("the variable `${name}` has no value where one is required"),
            ),
            given => Ok(given),
        }
    }

    /// The value, or `None` if it is an absent variable.
    pub(crate) fn coerce(
        &self,
        ty: &TypeExpr,
        value: &ast::Value,
    ) -> Result<Option<Value>, String> {
        if let ast::Value::Variable(name) = value {
            return Ok(self.variable(ty, name)?.cloned());
        }

        match ty {
            TypeExpr::NonNull(inner) => match value {
                ast::Value::Null => Err(null_refused(self.types, inner)),
                value => self.coerce(inner, value),
            },
            _ if matches!(value, ast::Value::Null) => Ok(Some(Value::Null)),
            TypeExpr::List(inner) => match value {
                ast::Value::List(items) => self.list(inner, items),
                // A single value is a list with one item (GraphQL specification, section 3.11).
                single => Ok(self
                    .coerce(inner, single)?
                    .map(|value| Value::List(vec![value]))),
            },
            TypeExpr::Named(index) => {
                let def = &self.types[*index];
                match (&def.kind, value) {
                    (TypeKind::Input(_), ast::Value::Object(fields)) => self.object(*index, fields),
                    (TypeKind::Input(_), _) => Err(format!("expected an object of `{}`", def.name)),
                    // An ID is text, no matter how large the number is.
                    (
                        TypeKind::Scalar {
                            kind: ScalarKind::Id,
                            ..
                        },
                        ast::Value::Int(number),
                    ) => Ok(Some(Value::String(number.as_str().to_owned()))),
                    // A custom scalar can be checked only as a whole, once its variables have
                    // values.
                    (_, value) if self.variables.is_none() && holds_variable(value) => Ok(None),
                    (
                        TypeKind::Scalar {
                            kind: ScalarKind::Json,
                            ..
                        },
                        value,
                    ) => json_argument(self.json(value)).map(Some),
                    (kind, value) => match number(value) {
                        Some(number) => {
                            coerce_number(kind, &def.name, &number, Origin::Literal).map(Some)
                        }
                        None => coerce_leaf(kind, &def.name, self.plain(value)?, Origin::Literal)
                            .map(Some),
                    },
                }
            }
        }
    }

    fn list(
        &self,
        inner: &TypeExpr,
        items: &[apollo_compiler::Node<ast::Value>],
    ) -> Result<Option<Value>, String> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            match self.coerce(inner, item)? {
                Some(value) => out.push(value),
                // A list has no omitted items, so an absent variable is null there.
                None if self.variables.is_some() => out.push(Value::Null),
                None => return Ok(None),
            }
        }

        Ok(Some(Value::List(out)))
    }

    fn object(
        &self,
        index: usize,
        fields: &[(apollo_compiler::Name, apollo_compiler::Node<ast::Value>)],
    ) -> Result<Option<Value>, String> {
        let def = &self.types[index];
        let TypeKind::Input(input) = &def.kind else {
            return Err(format!("`{}` is not an input object", def.name));
        };

        let mut given = IndexMap::new();
        for (name, value) in fields {
            let Some(field) = input.fields.get(name.as_str()) else {
                return Err(format!("`{}` has no field `{name}`", def.name));
            };

            if self.is_absent(value) {
                // Treated like an omitted field: its default applies, if it has one.
                continue;
            }

            match self.coerce(&field.ty, value)? {
                Some(value) => {
                    given.insert(Name::new(&field.rust), value);
                }
                None if self.variables.is_none() => return Ok(None),
                None => {}
            }
        }

        finish_object(input, &def.name, given).map(|fields| Some(Value::Object(fields)))
    }

    /// Whether `value` is a variable that was not given and has no default.
    fn is_absent(&self, value: &ast::Value) -> bool {
        matches!((value, self.variables), (ast::Value::Variable(name), Some(given)) if given.get(name.as_str()).is_none())
    }

    fn given(&self, variable: &str) -> Value {
        self.variables
            .and_then(|variables| variables.get(variable))
            .cloned()
            .unwrap_or_default()
    }

    /// A literal for `JSON`.
    fn json(&self, value: &ast::Value) -> ExactJson {
        match value {
            ast::Value::Null => ExactJson::Null,
            ast::Value::Boolean(value) => ExactJson::Bool(*value),
            ast::Value::String(text) => ExactJson::String(text.clone()),
            ast::Value::Enum(name) => ExactJson::String(name.to_string()),
            ast::Value::Int(number) => ExactJson::Number(ExactNumber::of(number.as_str())),
            ast::Value::Float(number) => ExactJson::Number(ExactNumber::of(number.as_str())),
            ast::Value::Variable(name) => ExactJson::of_argument(self.given(name)),
            ast::Value::List(items) => {
                ExactJson::Array(items.iter().map(|item| self.json(item)).collect())
            }
            ast::Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| (name.to_string(), self.json(value)))
                .collect(),
        }
    }

    /// A literal for a custom scalar, unchanged.
    fn plain(&self, value: &ast::Value) -> Result<Value, String> {
        Ok(match value {
            ast::Value::Null => Value::Null,
            ast::Value::Boolean(value) => Value::Boolean(*value),
            ast::Value::String(text) => Value::String(text.clone()),
            ast::Value::Enum(name) => Value::Enum(Name::new(name)),
            ast::Value::Int(_) | ast::Value::Float(_) => self
                .json(value)
                .nearest_value()
                .map_err(|_| too_large(value))?,
            ast::Value::Variable(name) => self.given(name),
            ast::Value::List(items) => Value::List(
                items
                    .iter()
                    .map(|item| self.plain(item))
                    .collect::<Result<_, _>>()?,
            ),
            ast::Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(name, value)| Ok((Name::new(name), self.plain(value)?)))
                    .collect::<Result<_, String>>()?,
            ),
        })
    }
}

/// Whether a literal of a scalar, such as `JSON`, has a variable inside.
fn holds_variable(value: &ast::Value) -> bool {
    match value {
        ast::Value::Variable(_) => true,
        ast::Value::List(items) => items.iter().any(|item| holds_variable(item)),
        ast::Value::Object(fields) => fields.iter().any(|(_, value)| holds_variable(value)),
        _ => false,
    }
}

fn number(value: &ast::Value) -> Option<ExactNumber> {
    match value {
        ast::Value::Int(number) => Some(ExactNumber::of(number.as_str())),
        ast::Value::Float(number) => Some(ExactNumber::of(number.as_str())),
        _ => None,
    }
}

fn too_large(number: &ast::Value) -> String {
    format!(
        "{} is too large a number",
        svc_core::exact_json::shorten(&number.to_string())
    )
}
