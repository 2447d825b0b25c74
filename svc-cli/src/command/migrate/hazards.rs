//! Statements of migrations that lock or rewrite tables in use, by the rules of Squawk.

use squawk_linter::{Linter, Rule, Violation};
use squawk_syntax::SourceFile;

use super::files::{File, Kind};
use crate::database::{DEEPEST, depth};

/// The rules about locks, rewrites and breaking changes for running programs; rules about style are
/// omitted.
const RULES: [Rule; 20] = [
    Rule::AddingFieldWithDefault,
    Rule::AddingForeignKeyConstraint,
    Rule::AddingNotNullableField,
    Rule::AddingRequiredField,
    Rule::AddingSerialPrimaryKeyField,
    Rule::BanAlterDomainWithAddConstraint,
    Rule::BanDropColumn,
    Rule::BanDropDatabase,
    Rule::BanDropNotNull,
    Rule::BanDropTable,
    Rule::BanTruncateCascade,
    Rule::ChangingColumnType,
    Rule::ConstraintMissingNotValid,
    Rule::DisallowedUniqueConstraint,
    Rule::RenamingColumn,
    Rule::RenamingTable,
    Rule::RequireConcurrentIndexCreation,
    Rule::RequireConcurrentIndexDeletion,
    Rule::RequireConcurrentPartitionDetach,
    Rule::RequireConcurrentReindex,
];

/// A statement that may harm a running service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hazard {
    /// The file and the line.
    pub(super) place: String,
    /// The rule, by its name in a comment `-- squawk-ignore RULE`.
    pub(super) rule: String,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// The hazards of a migration. Files of the schema only create missing objects, so they have none;
/// files nested too deeply for the parser are left to the database.
pub(super) fn of(file: &File) -> Vec<Hazard> {
    if file.kind != Kind::Migration || depth(&file.text) > DEEPEST {
        return Vec::new();
    }

    let mut linter = Linter::from(RULES);
    linter.settings.assume_in_transaction = file.in_transaction();
    let found = linter.lint(&SourceFile::parse(&file.text), &file.text);

    found
        .into_iter()
        .map(|violation| hazard(file, violation))
        .collect()
}

fn hazard(file: &File, violation: Violation) -> Hazard {
    let start = usize::from(violation.text_range.start());
    let line = file.text.as_bytes()[..start]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1;

    let rule = violation.code.to_string();
    Hazard {
        place: format!("{}:{line}", file.path),
        rule,
        message: violation.message,
        help: violation.help,
    }
}
