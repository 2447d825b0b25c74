//! Changes of types.

use std::collections::BTreeSet;

use apollo_compiler::Schema;
use apollo_compiler::schema::{ComponentName, EnumType, ExtendedType, InputObjectType};

use super::super::change::{Changes, Severity};
use super::{deprecation, fields, inputs};

pub(super) fn compare(old: &Schema, new: &Schema, found: &mut Changes) {
    let own = |ty: &&ExtendedType| !ty.is_built_in();
    for ty in old.types.values().filter(own) {
        match new.types.get(ty.name()) {
            Some(now) => compare_type(ty, now, found),
            None => found.add(
                Severity::Breaking,
                "TYPE_REMOVED",
                ty.name(),
                "the type is removed",
            ),
        }
    }

    for ty in new
        .types
        .values()
        .filter(own)
        .filter(|ty| !old.types.contains_key(ty.name()))
    {
        found.add(
            Severity::Safe,
            "TYPE_ADDED",
            ty.name(),
            format!("{} is added", kind(ty)),
        );
    }
}

fn compare_type(old: &ExtendedType, new: &ExtendedType, found: &mut Changes) {
    let name = old.name().as_str();
    match (old, new) {
        (ExtendedType::Scalar(_), ExtendedType::Scalar(_)) => {}
        (ExtendedType::Object(old), ExtendedType::Object(new)) => {
            interfaces(
                name,
                &old.implements_interfaces,
                &new.implements_interfaces,
                found,
            );
            fields::compare(name, &old.fields, &new.fields, found);
        }
        (ExtendedType::Interface(old), ExtendedType::Interface(new)) => {
            interfaces(
                name,
                &old.implements_interfaces,
                &new.implements_interfaces,
                found,
            );
            fields::compare(name, &old.fields, &new.fields, found);
        }
        (ExtendedType::Union(old), ExtendedType::Union(new)) => {
            members(name, &old.members, &new.members, found);
        }
        (ExtendedType::Enum(old), ExtendedType::Enum(new)) => values(old, new, found),
        (ExtendedType::InputObject(old), ExtendedType::InputObject(new)) => input(old, new, found),
        _ => {
            let message = format!("it changed from {} to {}", kind(old), kind(new));
            found.add(Severity::Breaking, "TYPE_CHANGED_KIND", name, message);
            return;
        }
    }

    found.describe(
        name,
        old.description().map(|text| &**text),
        new.description().map(|text| &**text),
    );
}

/// The kind of a type, for a sentence.
fn kind(ty: &ExtendedType) -> &'static str {
    match ty {
        ExtendedType::Scalar(_) => "a scalar",
        ExtendedType::Object(_) => "an object type",
        ExtendedType::Interface(_) => "an interface",
        ExtendedType::Union(_) => "a union",
        ExtendedType::Enum(_) => "an enum",
        ExtendedType::InputObject(_) => "an input type",
    }
}

type Names = apollo_compiler::collections::IndexSet<ComponentName>;

/// The names that are only in the first set.
fn only<'a>(these: &'a Names, those: &Names) -> Vec<&'a str> {
    let those: BTreeSet<&str> = those.iter().map(|name| name.as_str()).collect();
    these
        .iter()
        .map(|name| name.as_str())
        .filter(|name| !those.contains(name))
        .collect()
}

fn interfaces(name: &str, old: &Names, new: &Names, found: &mut Changes) {
    for interface in only(old, new) {
        let message = format!("it no longer implements {interface}");
        found.add(
            Severity::Breaking,
            "IMPLEMENTED_INTERFACE_REMOVED",
            name,
            message,
        );
    }

    for interface in only(new, old) {
        // Selections on the interface may now return the type.
        let message = format!("it now implements {interface}");
        found.add_for(
            Severity::Dangerous,
            "IMPLEMENTED_INTERFACE_ADDED",
            name,
            interface,
            message,
        );
    }
}

fn members(name: &str, old: &Names, new: &Names, found: &mut Changes) {
    for member in only(old, new) {
        found.add(
            Severity::Breaking,
            "TYPE_REMOVED_FROM_UNION",
            name,
            format!("{member} is no longer a member"),
        );
    }

    for member in only(new, old) {
        found.add(
            Severity::Dangerous,
            "TYPE_ADDED_TO_UNION",
            name,
            format!("{member} is a new member"),
        );
    }
}

fn values(old: &EnumType, new: &EnumType, found: &mut Changes) {
    let coordinate = |value: &str| format!("{}.{value}", old.name);
    for (value, before) in &old.values {
        let place = coordinate(value);
        match new.values.get(value) {
            None => found.add(
                Severity::Breaking,
                "VALUE_REMOVED_FROM_ENUM",
                &place,
                "the value is removed",
            ),
            Some(now) => {
                deprecation::compare(&place, &before.directives, &now.directives, found);
                found.describe(
                    &place,
                    before.description.as_deref(),
                    now.description.as_deref(),
                );
            }
        }
    }

    for value in new
        .values
        .keys()
        .filter(|value| !old.values.contains_key(*value))
    {
        let message = "a value is added, which clients may receive";
        found.add_for(
            Severity::Dangerous,
            "VALUE_ADDED_TO_ENUM",
            &coordinate(value),
            &old.name,
            message,
        );
    }
}

fn input(old: &InputObjectType, new: &InputObjectType, found: &mut Changes) {
    match (old.directives.has("oneOf"), new.directives.has("oneOf")) {
        (false, true) => {
            found.add(
                Severity::Breaking,
                "INPUT_BECAME_ONE_OF",
                &old.name,
                "exactly one of its fields must be given",
            );
        }
        (true, false) => {
            found.add(
                Severity::Safe,
                "INPUT_IS_NOT_ONE_OF",
                &old.name,
                "several of its fields may be given",
            );
        }
        _ => {}
    }

    inputs::compare_fields(old, new, found);
}
