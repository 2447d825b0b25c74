//! The parts of introspection that apollo-compiler does not define.

use apollo_compiler::ast::{FieldDefinition, Type};
use apollo_compiler::schema::{Component, ExtendedType};
use apollo_compiler::{Node, Schema, name};

/// The introspection type for types.
pub const TYPE: &str = "__Type";
/// The field that reports whether a type is `@oneOf` (GraphQL of September 2025, section 4.2.2).
pub const IS_ONE_OF: &str = "isOneOf";

/// Adds `__Type.isOneOf`.
pub(super) fn extend(schema: &mut Schema) {
    let Some(ExtendedType::Object(ty)) = schema.types.get_mut(TYPE) else {
        return;
    };

    let field = FieldDefinition {
        description: Some(Node::new_str(
            "Whether exactly one field of the input object is given; null for other types.",
        )),
        name: name!("isOneOf"),
        arguments: Vec::new(),
        ty: Type::Named(name!("Boolean")),
        directives: apollo_compiler::ast::DirectiveList::new(),
    };

    ty.make_mut()
        .fields
        .insert(name!("isOneOf"), Component::new(field));
}
