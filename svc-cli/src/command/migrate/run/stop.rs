//! Failures of files, with the database's error code if it has rejected a statement.

use tokio_postgres::error::{ErrorPosition, SqlState};

use super::super::files::{File, Kind};
use crate::database::{Statement, reason};
use crate::failure::Failure;

/// Errors about objects that already exist.
const EXISTS: [&SqlState; 5] = [
    &SqlState::DUPLICATE_SCHEMA,
    &SqlState::DUPLICATE_TABLE,
    &SqlState::DUPLICATE_COLUMN,
    &SqlState::DUPLICATE_FUNCTION,
    &SqlState::DUPLICATE_OBJECT,
];

/// Errors about objects that another file may create.
const MISSING: [&SqlState; 5] = [
    &SqlState::UNDEFINED_TABLE,
    &SqlState::UNDEFINED_COLUMN,
    &SqlState::UNDEFINED_FUNCTION,
    &SqlState::UNDEFINED_OBJECT,
    &SqlState::INVALID_SCHEMA_NAME,
];

/// The reason for stopping.
#[derive(Debug)]
pub(in crate::command::migrate) struct Stop {
    pub(super) failure: Failure,
    code: Option<SqlState>,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            code: None,
        }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        stop.failure
    }
}

impl Stop {
    /// A rejected statement.
    pub(in crate::command::migrate) fn in_statement(
        error: &tokio_postgres::Error,
        file: &File,
        statement: &Statement<'_>,
    ) -> Self {
        let position = error.as_db_error().and_then(|error| error.position());
        let line = match position {
            Some(ErrorPosition::Original(character)) => {
                // PostgreSQL counts characters, not bytes, and starts with 1.
                let before = (*character as usize).saturating_sub(1);
                statement.line
                    + statement
                        .text
                        .chars()
                        .take(before)
                        .filter(|c| *c == '\n')
                        .count()
            }
            _ => statement.line,
        };

        let failure = Failure::new(format!("{}:{line}: {}", file.path, reason(error)));
        let failure = failure.hints(hints(error, file).into_iter().map(str::to_owned));

        Self {
            failure,
            code: error.code().cloned(),
        }
    }

    /// A file whose transaction cannot be committed.
    pub(in crate::command::migrate) fn in_file(error: &tokio_postgres::Error, file: &File) -> Self {
        Self {
            failure: Failure::new(format!("{}: {}", file.path, reason(error))),
            code: error.code().cloned(),
        }
    }

    /// Whether another file may create the object that the statement lacks.
    pub(in crate::command::migrate) fn is_missing(&self) -> bool {
        self.code
            .as_ref()
            .is_some_and(|code| MISSING.contains(&code))
    }

    /// Whether a label of an enum cannot be used in the transaction that added it.
    pub(in crate::command::migrate) fn is_new_label(&self) -> bool {
        self.code == Some(SqlState::UNSAFE_NEW_ENUM_VALUE_USAGE)
    }

    /// Adds a hint.
    pub(in crate::command::migrate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.failure = self.failure.hint(hint);
        self
    }
}

fn hints(error: &tokio_postgres::Error, file: &File) -> Vec<&'static str> {
    let mut hints = Vec::new();
    match error.code() {
        // The file itself is not wrong, so the hint about a correction is omitted.
        Some(&SqlState::LOCK_NOT_AVAILABLE) if file.kind == Kind::Seed => {
            return vec!["another session holds a lock that it needs; try again: svc db seed"];
        }
        Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            return vec![
                "another session holds a lock that it needs; try again, or wait longer: --lock-timeout 60",
            ];
        }
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            return vec![
                "the user in SVC_DATABASE_URL lacks the privilege; run the command as the owner",
            ];
        }
        Some(&SqlState::UNIQUE_VIOLATION) if file.kind == Kind::Seed => {
            hints.push(
                "the row already exists; with ON CONFLICT DO NOTHING, the file can run again",
            );
        }
        Some(code) if EXISTS.contains(&code) && file.kind != Kind::Seed => {
            hints.push(
                "if the database already has the objects of the pending files, record them without running them: svc migrate baseline",
            );
        }
        _ => {}
    }

    hints.push(match file.kind {
        Kind::Seed => "this file changed nothing; fix it and run `svc db seed` again",
        _ if file.in_transaction() => {
            "this file changed nothing; fix it and run `svc migrate up` again"
        }
        _ => {
            "the changes of the statements before it remain; fix it, then run `svc migrate repair`"
        }
    });

    hints
}
