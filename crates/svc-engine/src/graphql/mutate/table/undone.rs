//! Reasons why a mutation of a table is rolled back.

use crate::mutation_result::{Constraints, Failure, Response, Status};
use svc_core::Error;
use svc_core::error::sqlstate::{is_contention, is_conversion};
use svc_postgres::{DbError, Fault, RetryCause};

/// The reason why a mutation is rolled back.
pub(super) enum Undone {
    /// A failure that a result can represent.
    Failure(Box<Failure>),
    /// Others have changed or locked the same rows. If PostgreSQL has rolled back the transaction,
    /// it may be retried.
    Contention {
        failure: Box<Failure>,
        retry_cause: Option<RetryCause>,
    },
    Error(Error),
}

impl Undone {
    /// The reason why the transaction may be retried, if there is one.
    pub(super) fn retry_cause(&self) -> Option<RetryCause> {
        match self {
            Self::Contention { retry_cause, .. } => *retry_cause,
            Self::Error(error) => DbError::retry_cause_of(error),
            Self::Failure(_) => None,
        }
    }

    /// Adds the path in the arguments, as a detail of the failure's errors.
    pub(super) fn at(self, path: &str) -> Self {
        match self {
            Self::Failure(failure) => Self::Failure(Box::new(failure.with_detail("path", path))),
            other => other,
        }
    }

    /// A failure with a status such as `not_found:`.
    pub(super) fn failure(status: &str, message: String) -> Self {
        let response = Response {
            status: status.to_owned(),
            message: Some(message),
            ..Response::default()
        };

        match Status::read(status) {
            Status::Failure(kind, identifier) => {
                Self::Failure(Box::new(Failure::of_response(kind, identifier, &response)))
            }
            Status::Success | Status::Unknown => {
                Self::Error(Error::internal(format!("{status} is no failure")))
            }
        }
    }

    /// Converts a database error about rows of a type.
    pub(super) fn of_database(error: DbError, type_name: &str, constraints: &Constraints) -> Self {
        let fault = error.fault();
        let has_code =
            |holds: fn(&str) -> bool| fault.as_ref().is_some_and(|fault| holds(&fault.code));
        if has_code(is_contention) {
            let message = format!("the `{type_name}` was changed meanwhile; try again");
            let failure = Box::new(Failure::contended(message));
            return Self::Contention {
                failure,
                retry_cause: error.retry_cause(),
            };
        }

        // A message declared by the program is more precise than the general ones below.
        let has_message = |name: &String| constraints.contains_key(name.as_str());
        let is_told = fault
            .as_ref()
            .is_some_and(|fault| fault.constraint.as_ref().is_some_and(has_message));

        match fault
            .filter(|_| !is_told)
            .and_then(|fault| refusal(&fault, type_name))
        {
            Some((status, message)) => Self::failure(status, message),
            None => Failure::of_error(error, constraints)
                .map_or_else(Self::Error, |failure| Self::Failure(Box::new(failure))),
        }
    }
}

/// The status and the message of a row that the database rejects for a reason without a message
/// declared by the program. Most errors raised inside a trigger have none: they are about rows that
/// the client is not aware of. The client does know which row it changes or deletes, so the action
/// of a foreign key on the rows that refer to it has one.
fn refusal(fault: &Fault, type_name: &str) -> Option<(&'static str, String)> {
    let refused = match fault.code.as_str() {
        "21000" => (
            "validation:given_twice",
            format!("two of the items are the same `{type_name}`; give each once"),
        ),
        "22001" | "22003" | "22008" => (
            "validation:out_of_range",
            format!("a value of the `{type_name}` is too long or too large for its column"),
        ),
        "42501" => {
            // A missing privilege has the same code, and is a mistake of the service.
            fault.report().condition()?;
            (
                "forbidden:",
                format!("the `{type_name}` would become one that is not allowed"),
            )
        }
        _ if is_about_reference(fault) => (
            "conflict:reference",
            format!("the `{type_name}` refers to what is not there, or something refers to it"),
        ),
        _ if fault.is_inside => return None,
        code if is_conversion(code, fault.file.as_deref()) => (
            "validation:not_valid",
            format!("a value of the `{type_name}` is not one that its column takes"),
        ),
        "23502" => (
            "validation:missing",
            format!("a value that the `{type_name}` needs is missing"),
        ),
        "23505" | "23P01" => (
            "conflict:exists",
            format!("there is such a `{type_name}` already"),
        ),
        "23514" | "44000" => (
            "validation:not_allowed",
            format!("a value of the `{type_name}` is not allowed"),
        ),
        "428C9" => (
            "validation:computed",
            format!("a value of the `{type_name}` is one that the database computes"),
        ),
        _ => return None,
    };

    Some(refused)
}

/// Whether a foreign key rejects a row, or its action breaks a constraint of the rows that refer to
/// that row.
fn is_about_reference(fault: &Fault) -> bool {
    let is_of_key = matches!(fault.code.as_str(), "23503" | "23001");
    fault.is_of_reference || (is_of_key && !fault.is_inside)
}
