//! The changes between two schemas.

mod deprecation;
mod directives;
mod fields;
mod inputs;
mod types;
mod wrapping;

use apollo_compiler::Schema;
use apollo_compiler::ast::OperationType;

use super::change::{Change, Changes, Severity};

/// The changes from one schema to another, the most severe first.
pub(super) fn changes(old: &Schema, new: &Schema) -> Vec<Change> {
    let mut found = Changes::default();
    roots(old, new, &mut found);
    types::compare(old, new, &mut found);
    directives::compare(old, new, &mut found);
    found.sorted()
}

fn roots(old: &Schema, new: &Schema, found: &mut Changes) {
    for operation in [
        OperationType::Query,
        OperationType::Mutation,
        OperationType::Subscription,
    ] {
        let name = operation.name();
        match (old.root_operation(operation), new.root_operation(operation)) {
            (Some(old), Some(new)) if old != new => {
                let message = format!("the {name} type changed from {old} to {new}");
                found.add(Severity::Breaking, "ROOT_TYPE_CHANGED", old, message);
            }
            (Some(old), None) => {
                found.add(
                    Severity::Breaking,
                    "ROOT_TYPE_REMOVED",
                    old,
                    format!("the {name} type is removed"),
                );
            }
            (None, Some(new)) => {
                found.add(
                    Severity::Safe,
                    "ROOT_TYPE_ADDED",
                    new,
                    format!("it is now the {name} type"),
                );
            }
            _ => {}
        }
    }
}
