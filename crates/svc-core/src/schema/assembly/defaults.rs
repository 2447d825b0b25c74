//! Defaults: literals in the source, checked against their types.

use apollo_compiler::ast;
use async_graphql::Value;

use super::Builder;
use crate::schema::error::SchemaError;
use crate::schema::model::{ArgDef, DefaultValue, TypeDef, TypeExpr, TypeIndex, TypeKind};

/// A default's value, with its type, field and argument.
type Coerced = (TypeIndex, String, String, Value);

/// Coerces a literal to its type, as the engine coerces the literals of documents.
pub(crate) type CoerceLiteral = fn(&[TypeDef], &TypeExpr, &ast::Value) -> Result<Value, String>;

impl DefaultValue {
    /// A default whose value has not been coerced yet.
    pub(super) fn unchecked(literal: &str) -> Self {
        Self {
            literal: literal.to_owned(),
            value: Value::Null,
        }
    }
}

impl Builder {
    /// Coerces every default, or reports why it does not fit.
    ///
    /// A default may be an input object whose fields have defaults themselves, so this repeats
    /// until nothing changes.
    pub(super) fn fill_defaults(&mut self, coerce: CoerceLiteral) {
        // A chain of defaults is never longer than the number of types.
        for _ in 0..=self.types.len() {
            let (found, errors) = self.coerce_defaults(coerce);
            let mut changed = false;
            for (index, owner, name, value) in found {
                if let Some(default) = find(&mut self.types[index].kind, &owner, &name)
                    && default.value != value
                {
                    default.value = value;
                    changed = true;
                }
            }

            // Errors of an earlier pass may only be due to defaults that were not coerced yet.
            if !changed {
                self.errors.extend(errors);
                return;
            }
        }
    }

    fn coerce_defaults(&self, coerce: CoerceLiteral) -> (Vec<Coerced>, Vec<SchemaError>) {
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        for (index, def) in self.types.iter().enumerate() {
            for (owner, arg) in args(&def.kind) {
                let Some(default) = &arg.default else {
                    continue;
                };

                let path = def
                    .kind
                    .field(&owner)
                    .map_or(&def.path, |field| &field.path);
                let value =
                    parse(&default.literal).and_then(|ast| coerce(&self.types, &arg.ty, &ast));
                match value {
                    Ok(value) => found.push((index, owner, arg.name.clone(), value)),
                    Err(why) => errors.push(SchemaError::BadDefault {
                        argument: arg.rust.clone(),
                        path: path.clone(),
                        literal: default.literal.clone(),
                        expected: self.types[arg.ty.named()].name.clone(),
                        why,
                    }),
                }
            }
        }

        (found, errors)
    }
}

/// All arguments of a type with their field; input fields have none.
fn args(kind: &TypeKind) -> Vec<(String, &ArgDef)> {
    match kind {
        TypeKind::Input(input) => input
            .fields
            .values()
            .map(|arg| (String::new(), arg))
            .collect(),
        TypeKind::Object(object) => object
            .fields
            .values()
            .flat_map(|f| f.args.iter().map(|arg| (f.name.clone(), arg)))
            .collect(),
        TypeKind::Abstract(abstract_type) => {
            let fields = abstract_type
                .fields
                .iter()
                .flat_map(|fields| fields.values());
            fields
                .flat_map(|f| f.args.iter().map(|arg| (f.name.clone(), arg)))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn find<'a>(kind: &'a mut TypeKind, owner: &str, name: &str) -> Option<&'a mut DefaultValue> {
    let args = match kind {
        TypeKind::Input(input) => return input.fields.get_mut(name)?.default.as_mut(),
        TypeKind::Object(object) => &mut object.fields.get_mut(owner)?.args,
        TypeKind::Abstract(abstract_type) => {
            &mut abstract_type.fields.as_mut()?.get_mut(owner)?.args
        }
        _ => return None,
    };

    args.iter_mut()
        .find(|arg| arg.name == name)?
        .default
        .as_mut()
}

/// Parses one GraphQL value.
fn parse(literal: &str) -> Result<ast::Value, String> {
    // apollo-compiler parses documents, but not single values.
    let document = ast::Document::parse(format!("{{f(a:{literal})}}"), "default")
        .map_err(|_| "it is not a GraphQL value")?;
    let field = document
        .definitions
        .first()
        .and_then(|definition| match definition {
            ast::Definition::OperationDefinition(operation) => operation.selection_set.first(),
            _ => None,
        });

    match field {
        // A text such as `1, b: 2` would add a second argument, and is not one value.
        Some(ast::Selection::Field(field)) if field.arguments.len() == 1 => {
            Ok(field.arguments[0].value.as_ref().clone())
        }
        _ => Err("it is not a GraphQL value".to_owned()),
    }
}
