//! Changes of deprecations.

use apollo_compiler::ast::DirectiveList;

use super::super::change::{Changes, Severity};

pub(super) fn compare(place: &str, old: &DirectiveList, new: &DirectiveList, found: &mut Changes) {
    let (kind, message) = match (old.get("deprecated"), new.get("deprecated")) {
        (None, Some(_)) => ("DEPRECATION_ADDED", "it is deprecated"),
        (Some(_), None) => ("DEPRECATION_REMOVED", "it is no longer deprecated"),
        (Some(old), Some(new)) if old.arguments != new.arguments => (
            "DEPRECATION_REASON_CHANGED",
            "its deprecation reason has changed",
        ),
        _ => return,
    };

    found.add(Severity::Safe, kind, place, message);
}
