//! Changes of output fields.

use apollo_compiler::Name;
use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::Component;

use super::super::change::{Changes, Severity};
use super::{deprecation, inputs, wrapping};

type Fields = IndexMap<Name, Component<FieldDefinition>>;

pub(super) fn compare(owner: &str, old: &Fields, new: &Fields, found: &mut Changes) {
    let coordinate = |field: &str| format!("{owner}.{field}");
    for (name, before) in old {
        match new.get(name) {
            Some(now) => compare_field(&coordinate(name), before, now, found),
            None => found.add(
                Severity::Breaking,
                "FIELD_REMOVED",
                &coordinate(name),
                "the field is removed",
            ),
        }
    }

    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        found.add(
            Severity::Safe,
            "FIELD_ADDED",
            &coordinate(name),
            "a field is added",
        );
    }
}

fn compare_field(place: &str, old: &FieldDefinition, new: &FieldDefinition, found: &mut Changes) {
    if old.ty != new.ty {
        let message = format!("its type changed from {} to {}", old.ty, new.ty);
        if wrapping::is_safe_for_answers(&old.ty, &new.ty) {
            found.add(Severity::Safe, "FIELD_CHANGED_KIND_SAFE", place, message);
        } else {
            found.add(Severity::Breaking, "FIELD_CHANGED_KIND", place, message);
        }
    }

    inputs::compare_arguments(place, &old.arguments, &new.arguments, found);
    deprecation::compare(place, &old.directives, &new.directives, found);

    found.describe(
        place,
        old.description.as_deref(),
        new.description.as_deref(),
    );
}
