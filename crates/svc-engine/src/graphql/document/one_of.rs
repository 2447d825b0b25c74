//! `isOneOf` of types in introspection, which apollo-compiler does not support: the field is
//! replaced by the type's name under a reserved key, and the name is replaced in the response.

use apollo_compiler::executable::{ExecutableDocument, Selection, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Schema};

use svc_core::schema::{IS_ONE_OF, TYPE};

/// The prefix of the reserved keys. Names of clients do not begin with two underscores.
const MARK: &str = "__isOneOf_";

/// Whether a document may select `isOneOf`; other documents are not searched.
pub(super) fn is_asked(text: &str) -> bool {
    text.contains(IS_ONE_OF)
}

/// The document with the reserved keys.
pub(super) fn marked(schema: &Schema, document: &ExecutableDocument) -> ExecutableDocument {
    let mut document = document.clone();
    let operations = &mut document.operations;
    for operation in operations
        .anonymous
        .iter_mut()
        .chain(operations.named.values_mut())
    {
        mark(schema, &mut operation.make_mut().selection_set);
    }

    for fragment in document.fragments.values_mut() {
        mark(schema, &mut fragment.make_mut().selection_set);
    }

    document
}

fn mark(schema: &Schema, set: &mut SelectionSet) {
    let is_type = set.ty == TYPE;
    for selection in &mut set.selections {
        match selection {
            Selection::Field(field) if is_type && field.name == IS_ONE_OF => {
                // The response key is a part of the reserved one, so that a selection can contain
                // the field under several aliases.
                let key = Name::new(&format!("{MARK}{}", field.response_key()));
                if let (Ok(key), Ok(name)) = (key, schema.type_field(TYPE, "name")) {
                    let field = field.make_mut();
                    (field.alias, field.name, field.definition) =
                        (Some(key), name.name.clone(), name.node.clone());
                }
            }
            Selection::Field(field) => mark(schema, &mut field.make_mut().selection_set),
            Selection::InlineFragment(fragment) => {
                mark(schema, &mut fragment.make_mut().selection_set);
            }
            Selection::FragmentSpread(_) => {}
        }
    }
}

/// Replaces the reserved keys in the response with whether each type is `@oneOf`; null for types
/// other than input objects.
pub(super) fn answered(schema: &Schema, answer: JsonMap) -> JsonMap {
    let fields = answer
        .into_iter()
        .map(|(key, value)| match key.as_str().strip_prefix(MARK) {
            Some(asked) => (asked.into(), is_one_of(schema, &value)),
            None => (key, inside(schema, value)),
        });
    fields.collect()
}

fn inside(schema: &Schema, value: JsonValue) -> JsonValue {
    match value {
        JsonValue::Object(object) => answered(schema, object).into(),
        JsonValue::Array(items) => items
            .into_iter()
            .map(|item| inside(schema, item))
            .collect::<Vec<_>>()
            .into(),
        other => other,
    }
}

fn is_one_of(schema: &Schema, name: &JsonValue) -> JsonValue {
    match name.as_str().and_then(|name| schema.types.get(name)) {
        Some(ExtendedType::InputObject(input)) => input.directives.has("oneOf").into(),
        _ => JsonValue::Null,
    }
}
