//! Prints changes for people and programs.

use std::fmt::Write as _;

use serde_json::json;

use super::change::{Change, Severity};
use super::operations::Affected;
use crate::failure::Result;
use crate::terminal;

/// Prints the changes, and the operations affected by them.
pub(super) fn print(
    changes: &[Change],
    affected: Option<&[Affected]>,
    as_json: bool,
) -> Result<()> {
    if as_json {
        let count = |severity| {
            changes
                .iter()
                .filter(|change| change.severity == severity)
                .count()
        };

        let report = json!({
            "breaking": count(Severity::Breaking),
            "dangerous": count(Severity::Dangerous),
            "safe": count(Severity::Safe),
            "changes": changes,
            "operations": affected,
        });

        return terminal::print(&format!("{report:#}\n"));
    }

    let mut text = String::new();
    for change in changes {
        let _ = writeln!(
            text,
            "{:9}  {}: {}",
            change.severity.word(),
            change.coordinate,
            change.message
        );
    }

    for operation in affected.unwrap_or_default() {
        describe(&mut text, operation);
    }

    let _ = writeln!(text, "{}", summary(changes));

    terminal::print(&text)
}

fn describe(text: &mut String, operation: &Affected) {
    let client = operation
        .client
        .as_ref()
        .map(|client| format!(" of {client}"))
        .unwrap_or_default();

    let Some(severity) = operation.severity() else {
        return;
    };

    let verb = if severity == Severity::Breaking {
        "breaks"
    } else {
        "may be affected"
    };

    let _ = writeln!(
        text,
        "operation {}{client} ({}) {verb}:",
        operation.name, operation.source
    );

    for error in &operation.errors {
        let _ = writeln!(text, "  invalid: {error}");
    }

    for change in &operation.changes {
        let _ = writeln!(
            text,
            "  {}  {}: {}",
            change.severity.word(),
            change.coordinate,
            change.message
        );
    }
}

fn summary(changes: &[Change]) -> String {
    let count = |severity| {
        changes
            .iter()
            .filter(|change| change.severity == severity)
            .count()
    };

    let counts = [Severity::Breaking, Severity::Dangerous, Severity::Safe]
        .map(|severity| format!("{} {}", count(severity), severity.word()));
    if changes.is_empty() {
        "the schemas are the same".to_owned()
    } else {
        counts.join(", ")
    }
}
