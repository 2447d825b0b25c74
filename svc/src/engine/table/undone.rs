//! The reasons for which a mutation of a table is undone.

use crate::Error;
use crate::mutation::{Constraints, Failure, Response, Status};
use crate::postgres::DbError;

/// A reason for which nothing is kept.
pub(super) enum Undone {
    /// One that a result can tell.
    Failure(Box<Failure>),
    Error(Error),
}

impl Undone {
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
        if error.is_of_concurrency() {
            return Self::failure("conflict:changed", format!("the `{type_name}` was changed meanwhile; try again"));
        }
        if error.fault().is_some_and(|fault| fault.code == "21000") {
            let message = format!("two of the items are the same `{type_name}`; give each once");
            return Self::failure("validation:given_twice", message);
        }
        Failure::of_error(error, constraints).map_or_else(Self::Error, |failure| Self::Failure(Box::new(failure)))
    }
}
