//! Comparison of fields that are merged.

use apollo_compiler::ast::Value;
use apollo_compiler::executable::Field;

/// Whether two fields that apollo-compiler considers equal really are: it compares lists in
/// arguments only up to the length of the shorter one.
pub(super) fn same_lists(one: &Field, other: &Field) -> bool {
    fn same(one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::List(one), Value::List(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| same(one, other))
            }
            (Value::Object(one), Value::Object(other)) => one.iter().all(|(name, value)| {
                other
                    .iter()
                    .find(|(other, _)| other == name)
                    .is_none_or(|(_, other)| same(value, other))
            }),
            // apollo-compiler has already compared all other values.
            _ => true,
        }
    }

    one.arguments.iter().all(|argument| {
        let other = other
            .arguments
            .iter()
            .find(|other| other.name == argument.name);
        other.is_none_or(|other| same(&argument.value, &other.value))
    })
}
