//! The findings of the service's start: warnings that it would log, and faults that would make
//! `/ready` fail.

use super::finding::Finding;
use crate::program::{Description, Place, StartFinding};

/// Adds the faults of a start that this check has not found itself, and returns the hints.
pub(super) fn add(description: &Description, found: &mut Vec<Finding>) -> Vec<Finding> {
    // The start reports some faults that the comparisons have found with a place in the source.
    let is_new = |start: &&StartFinding| {
        !found
            .iter()
            .any(|finding| finding.is_about(&start.field, &start.source))
    };

    let (faults, hints): (Vec<_>, Vec<_>) = description
        .findings
        .iter()
        .filter(is_new)
        .partition(|start| start.severity == "fault");

    let shown = |start: &StartFinding| finding(description, start);
    let hints = hints.into_iter().map(shown).collect();
    let faults: Vec<Finding> = faults.into_iter().map(shown).collect();

    found.extend(faults);

    hints
}

fn finding(description: &Description, start: &StartFinding) -> Finding {
    let StartFinding {
        source,
        field,
        cause,
        remedy,
        ..
    } = start;

    let subject = if field.is_empty() { source } else { field };
    match place(description, field) {
        Some(place) => Finding::new(&place, subject, cause, remedy),
        None => Finding::without_place(subject, cause, remedy),
    }
}

/// The location of a field in the program, if the description has it.
fn place(description: &Description, field: &str) -> Option<Place> {
    let (owner, name) = field.split_once('.')?;
    let ty = description.types.iter().find(|ty| ty.name == owner);
    let of_type = ty.and_then(|ty| {
        let field = ty.fields.iter().find(|field| field.name == name)?;
        Some(Place {
            file: ty.place.file.clone(),
            line: field.line,
        })
    });

    let of_call = || {
        let calls = description
            .functions
            .iter()
            .map(|call| (&call.field, &call.place));
        let statements = description
            .statements
            .iter()
            .map(|statement| (&statement.field, &statement.place));
        let writes = description
            .writes
            .iter()
            .map(|write| (&write.field, &write.place));
        let mut all = calls.chain(statements).chain(writes);

        all.find(|(called, _)| *called == name || *called == field)
            .map(|(_, place)| place.clone())
    };

    of_type.or_else(of_call)
}
