//! Changes of inputs: arguments, and fields of input types.

use apollo_compiler::Node;
use apollo_compiler::ast::{InputValueDefinition, Value};
use apollo_compiler::schema::InputObjectType;

use super::super::change::{Changes, Severity};
use super::{deprecation, wrapping};

/// The names of the kinds of changes, which differ for arguments and fields.
struct Kinds {
    removed: &'static str,
    required_added: &'static str,
    optional_added: &'static str,
    changed: &'static str,
    changed_safely: &'static str,
    default_changed: &'static str,
    what: &'static str,
}

const ARGUMENT: Kinds = Kinds {
    removed: "ARG_REMOVED",
    required_added: "REQUIRED_ARG_ADDED",
    optional_added: "OPTIONAL_ARG_ADDED",
    changed: "ARG_CHANGED_KIND",
    changed_safely: "ARG_CHANGED_KIND_SAFE",
    default_changed: "ARG_DEFAULT_VALUE_CHANGE",
    what: "argument",
};

const FIELD: Kinds = Kinds {
    removed: "FIELD_REMOVED",
    required_added: "REQUIRED_INPUT_FIELD_ADDED",
    optional_added: "OPTIONAL_INPUT_FIELD_ADDED",
    changed: "FIELD_CHANGED_KIND",
    changed_safely: "FIELD_CHANGED_KIND_SAFE",
    default_changed: "INPUT_FIELD_DEFAULT_VALUE_CHANGE",
    what: "field",
};

type Argument = Node<InputValueDefinition>;

/// The changes of the arguments of a field.
pub(super) fn compare_arguments(
    field: &str,
    old: &[Argument],
    new: &[Argument],
    found: &mut Changes,
) {
    let new: Vec<&InputValueDefinition> = new.iter().map(|argument| &**argument).collect();
    let old: Vec<&InputValueDefinition> = old.iter().map(|argument| &**argument).collect();
    compare(
        &ARGUMENT,
        field,
        |name| format!("{field}({name}:)"),
        &old,
        &new,
        found,
    );
}

/// The changes of the arguments of a directive.
pub(super) fn compare_directive(
    name: &str,
    old: &[Argument],
    new: &[Argument],
    found: &mut Changes,
) {
    let kinds = Kinds {
        removed: "DIRECTIVE_ARG_REMOVED",
        required_added: "REQUIRED_DIRECTIVE_ARG_ADDED",
        ..ARGUMENT
    };

    let new: Vec<&InputValueDefinition> = new.iter().map(|argument| &**argument).collect();
    let old: Vec<&InputValueDefinition> = old.iter().map(|argument| &**argument).collect();
    compare(
        &kinds,
        name,
        |argument| format!("{name}({argument}:)"),
        &old,
        &new,
        found,
    );
}

/// The changes of the fields of an input type.
pub(super) fn compare_fields(old: &InputObjectType, new: &InputObjectType, found: &mut Changes) {
    let new: Vec<&InputValueDefinition> = new.fields.values().map(|field| &***field).collect();
    let before: Vec<&InputValueDefinition> = old.fields.values().map(|field| &***field).collect();
    compare(
        &FIELD,
        &old.name,
        |name| format!("{}.{name}", old.name),
        &before,
        &new,
        found,
    );
}

fn compare(
    kinds: &Kinds,
    owner: &str,
    place: impl Fn(&str) -> String,
    old: &[&InputValueDefinition],
    new: &[&InputValueDefinition],
    found: &mut Changes,
) {
    for before in old {
        match new.iter().find(|after| after.name == before.name) {
            Some(after) => compare_one(kinds, &place(&before.name), before, after, found),
            None => {
                let message = format!("the {} is removed", kinds.what);
                found.add(
                    Severity::Breaking,
                    kinds.removed,
                    &place(&before.name),
                    message,
                );
            }
        }
    }

    for after in new
        .iter()
        .filter(|after| old.iter().all(|before| before.name != after.name))
    {
        let (severity, kind, word) = if after.is_required() {
            (Severity::Breaking, kinds.required_added, "a required")
        } else {
            (Severity::Dangerous, kinds.optional_added, "an optional")
        };

        found.add_for(
            severity,
            kind,
            &place(&after.name),
            owner,
            format!("{word} {} is added", kinds.what),
        );
    }
}

fn compare_one(
    kinds: &Kinds,
    place: &str,
    old: &InputValueDefinition,
    new: &InputValueDefinition,
    found: &mut Changes,
) {
    if !wrapping::is_safe_for_inputs(&old.ty, &new.ty) {
        let message = format!("its type changed from {} to {}", old.ty, new.ty);
        found.add(Severity::Breaking, kinds.changed, place, message);
    } else {
        if old.ty != new.ty {
            let message = format!("its type changed from {} to {}", old.ty, new.ty);
            found.add(Severity::Safe, kinds.changed_safely, place, message);
        }
        compare_defaults(kinds, place, old, new, found);
    }

    deprecation::compare(place, &old.directives, &new.directives, found);
    found.describe(
        place,
        old.description.as_deref(),
        new.description.as_deref(),
    );
}

fn compare_defaults(
    kinds: &Kinds,
    place: &str,
    old: &InputValueDefinition,
    new: &InputValueDefinition,
    found: &mut Changes,
) {
    let message = match (&old.default_value, &new.default_value) {
        (Some(old), Some(new)) if !is_same(old, new) => {
            format!("its default changed from {old} to {new}")
        }
        // A non-null argument is only optional with a default.
        (Some(_), None) if new.is_required() => {
            let message = "its default is removed, so it is now required";
            return found.add(Severity::Breaking, kinds.default_changed, place, message);
        }
        (Some(old), None) => format!("its default, {old}, is removed"),
        (None, Some(new)) => {
            return found.add(
                Severity::Safe,
                "DEFAULT_VALUE_ADDED",
                place,
                format!("its default is now {new}"),
            );
        }
        _ => return,
    };

    found.add(Severity::Dangerous, kinds.default_changed, place, message);
}

/// Whether two values are equal; the order of an object's fields does not matter.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| {
                    other
                        .iter()
                        .any(|(key, other)| key == name && is_same(value, other))
                })
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}
