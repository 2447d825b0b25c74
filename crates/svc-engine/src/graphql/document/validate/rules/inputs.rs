//! Literals: unique input fields, `@oneOf`, and scalars with their own rules.

use std::collections::HashSet;

use apollo_compiler::Node;
use apollo_compiler::ast::Value;

use super::Check;
use crate::graphql::coerce::Literal;
use svc_core::schema::{TypeExpr, TypeKind};

impl Check<'_> {
    /// Checks a literal of type `ty`.
    pub(super) fn value(&mut self, ty: &TypeExpr, value: &Node<Value>) {
        self.unique_fields(value);
        self.typed(ty, value);
    }

    fn typed(&mut self, ty: &TypeExpr, value: &Node<Value>) {
        let model = self.model;
        match (ty, value.as_ref()) {
            // Variables are checked by their positions, and null by apollo-compiler.
            (_, Value::Variable(_) | Value::Null) => {}
            (TypeExpr::NonNull(inner), _) => self.typed(inner, value),
            (TypeExpr::List(inner), Value::List(items)) => {
                for item in items {
                    self.typed(inner, item);
                }
            }
            (TypeExpr::List(inner), _) => self.typed(inner, value),
            (TypeExpr::Named(index), literal) => match (&model.types[*index].kind, literal) {
                (TypeKind::Input(input), Value::Object(fields)) => {
                    let name = &model.types[*index].name;
                    if input.one_of
                        && (fields.len() != 1 || matches!(fields[0].1.as_ref(), Value::Null))
                    {
                        self.fail(
                            || format!("exactly one field of `{name}` must be given, and not null"),
                            value.location().map(|span| span.offset()),
                        );
                    }

                    for (name, value) in fields {
                        if let Some(field) = input.fields.get(name.as_str()) {
                            self.typed(&field.ty, value);
                        }
                    }
                }
                (TypeKind::Scalar { .. }, _) => {
                    let literal = Literal {
                        types: &model.types,
                        variables: None,
                    };

                    // A scalar with variables inside is coerced per request, when their values are
                    // known.
                    if let Err(why) = literal.coerce(ty, value)
                        && !holds_variable(value)
                    {
                        self.fail(|| why, value.location().map(|span| span.offset()));
                    }
                }
                _ => {}
            },
        }
    }

    /// Checks that every input object names a field only once, even inside scalars that accept any
    /// value.
    pub(super) fn unique_fields(&mut self, value: &Node<Value>) {
        match value.as_ref() {
            Value::List(items) => items.iter().for_each(|item| self.unique_fields(item)),
            Value::Object(fields) => {
                let mut seen = HashSet::new();
                for (name, value) in fields {
                    if !seen.insert(name) {
                        let offset = name.location().map(|span| span.offset());
                        self.fail(
                            || format!("there can be only one input field named `{name}`"),
                            offset,
                        );
                    }
                    self.unique_fields(value);
                }
            }
            _ => {}
        }
    }
}

fn holds_variable(value: &Value) -> bool {
    match value {
        Value::Variable(_) => true,
        Value::List(items) => items.iter().any(|item| holds_variable(item)),
        Value::Object(fields) => fields.iter().any(|(_, value)| holds_variable(value)),
        _ => false,
    }
}
