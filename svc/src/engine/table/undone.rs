//! The reasons for which a mutation of a table is undone.

use crate::Error;
use crate::mutation::{Constraints, Failure, Response, Status};
use crate::postgres::{DbError, is_contention};

/// A reason for which nothing is kept.
pub(super) enum Undone {
    /// One that a result can tell.
    Failure(Box<Failure>),
    /// Others have changed or locked the same rows; PostgreSQL has undone the transaction where it may be run again.
    Contention {
        failure: Box<Failure>,
        may_repeat: bool,
    },
    Error(Error),
}

impl Undone {
    /// Whether PostgreSQL has undone the transaction because of others, so that it may be run again.
    pub(super) fn may_repeat(&self) -> bool {
        match self {
            Self::Contention { may_repeat, .. } => *may_repeat,
            Self::Error(error) => DbError::has_undone(error),
            Self::Failure(_) => false,
        }
    }

    /// The same, at a place in the arguments, which is a detail of its errors.
    pub(super) fn at(self, path: &str) -> Self {
        match self {
            Self::Failure(failure) => Self::Failure(Box::new(failure.with_detail("path", path))),
            other => other,
        }
    }

    /// A failure with a status such as `not_found:`.
    pub(super) fn failure(status: &str, message: String) -> Self {
        let response = Response { status: status.to_owned(), message: Some(message), ..Response::default() };
        match Status::read(status) {
            Status::Failure(kind, identifier) => {
                Self::Failure(Box::new(Failure::of_response(kind, identifier, &response)))
            }
            Status::Success | Status::Unknown => Self::Error(Error::internal(format!("{status} is no failure"))),
        }
    }

    /// An error of the database about rows of a type.
    pub(super) fn of_database(error: DbError, type_name: &str, constraints: &Constraints) -> Self {
        let fault = error.fault();
        let has_code = |holds: fn(&str) -> bool| fault.as_ref().is_some_and(|fault| holds(&fault.code));
        if has_code(is_contention) {
            let message = format!("the `{type_name}` was changed meanwhile; try again");
            let failure = Box::new(Failure::contended(message));
            return Self::Contention { failure, may_repeat: error.is_of_concurrency() };
        }
        if has_code(|code| code == "21000") {
            let message = format!("two of the items are the same `{type_name}`; give each once");
            return Self::failure("validation:given_twice", message);
        }
        if has_code(|code| matches!(code, "22001" | "22003" | "22008")) {
            let message = format!("a value of the `{type_name}` is too long or too large for its column");
            return Self::failure("validation:out_of_range", message);
        }
        Failure::of_error(error, constraints).map_or_else(Self::Error, |failure| Self::Failure(Box::new(failure)))
    }
}
