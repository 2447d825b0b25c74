//! Changes of directives.

use apollo_compiler::Schema;
use apollo_compiler::ast::{DirectiveDefinition, DirectiveLocation};

use super::super::change::{Changes, Severity};
use super::inputs;

/// The directives of the specification, which a schema need not define.
const SPECIFIED: [&str; 5] = ["skip", "include", "deprecated", "specifiedBy", "oneOf"];

pub(super) fn compare(old: &Schema, new: &Schema, found: &mut Changes) {
    let own = |directive: &&DirectiveDefinition| !SPECIFIED.contains(&directive.name.as_str());
    for before in old
        .directive_definitions
        .values()
        .map(|node| &**node)
        .filter(own)
    {
        let place = format!("@{}", before.name);
        match new.directive_definitions.get(&before.name) {
            Some(after) => compare_one(&place, before, after, found),
            None => found.add(
                Severity::Breaking,
                "DIRECTIVE_REMOVED",
                &place,
                "the directive is removed",
            ),
        }
    }

    let is_new =
        |directive: &&DirectiveDefinition| !old.directive_definitions.contains_key(&directive.name);
    for after in new
        .directive_definitions
        .values()
        .map(|node| &**node)
        .filter(own)
        .filter(is_new)
    {
        found.add(
            Severity::Safe,
            "DIRECTIVE_ADDED",
            &format!("@{}", after.name),
            "a directive is added",
        );
    }
}

fn compare_one(
    place: &str,
    old: &DirectiveDefinition,
    new: &DirectiveDefinition,
    found: &mut Changes,
) {
    inputs::compare_directive(place, &old.arguments, &new.arguments, found);

    match (old.repeatable, new.repeatable) {
        (true, false) => {
            let message = "it is no longer repeatable";
            found.add(
                Severity::Breaking,
                "DIRECTIVE_REPEATABLE_REMOVED",
                place,
                message,
            );
        }
        (false, true) => {
            found.add(
                Severity::Safe,
                "DIRECTIVE_REPEATABLE_ADDED",
                place,
                "it is now repeatable",
            );
        }
        _ => {}
    }

    let only = |these: &[DirectiveLocation], those: &[DirectiveLocation]| {
        these
            .iter()
            .filter(|location| !those.contains(location))
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };

    for location in only(&old.locations, &new.locations) {
        let message = format!("it is no longer allowed on {location}");
        found.add(
            Severity::Breaking,
            "DIRECTIVE_LOCATION_REMOVED",
            place,
            message,
        );
    }

    for location in only(&new.locations, &old.locations) {
        found.add(
            Severity::Safe,
            "DIRECTIVE_LOCATION_ADDED",
            place,
            format!("it is now allowed on {location}"),
        );
    }

    found.describe(
        place,
        old.description.as_deref(),
        new.description.as_deref(),
    );
}
