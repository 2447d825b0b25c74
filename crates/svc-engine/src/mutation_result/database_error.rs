//! Database errors in a mutation, as reported to clients.

use super::failure::{Failure, text_field};
use super::status::Kind;
use super::{Constraints, raised};
use svc_core::Error;
use svc_core::error::Origin;
use svc_core::error::sqlstate::{CONTENTION, RETRYABLE, is_contention};
use svc_core::exact_json::ExactJson;
use svc_postgres::{DbError, Fault};

impl Failure {
    /// Returns the failure that a database error represents.
    ///
    /// # Errors
    /// The error itself, masked or not, if no author declared it.
    pub(crate) fn of_error(error: DbError, constraints: &Constraints) -> Result<Self, Error> {
        let error = error.of_call();
        match error
            .fault()
            .and_then(|fault| Self::of_fault(fault, constraints))
        {
            Some(failure) => Ok(failure),
            None => Err(error.into_error()),
        }
    }

    /// Returns the failure that PostgreSQL's report represents, if an author declared it.
    fn of_fault(fault: Fault, constraints: &Constraints) -> Option<Self> {
        // `RAISE EXCEPTION` without another code: the author of the function wrote the message for
        // clients.
        if fault.code == "P0001" {
            let texts = [&fault.detail, &fault.hint];
            if let Some(raised) = texts
                .into_iter()
                .flatten()
                .find_map(|text| raised::read(&fault.message, text))
            {
                return Some(raised);
            }

            let details = fault.hint.map(|hint| text_field("hint", hint));
            return Some(Self::one(
                Kind::Failed,
                "failed:raised".to_owned(),
                "raised",
                fault.message,
                details,
            ));
        }

        if is_contention(&fault.code) {
            return Some(Self::contended(CONTENTION.to_owned()));
        }

        Self::of_constraint(&fault, constraints).or_else(|| Self::of_refusal(&fault))
    }

    /// Returns the failure of a change that the database rejects by a rule that names no
    /// constraint.
    fn of_refusal(fault: &Fault) -> Option<Self> {
        let condition = fault.report().condition();
        let (kind, status, identifier, message) = match fault.code.as_str() {
            // Raised by a policy or a function.
            "42501" => (
                Kind::Forbidden,
                "forbidden:",
                "forbidden",
                condition?.message,
            ),
            "44000" => (
                Kind::Validation,
                "validation:not_allowed",
                "not_allowed",
                "the change breaks a condition of its view",
            ),
            // A function that has looked for a row with `INTO STRICT`.
            "P0002" | "02000" => (
                Kind::NotFound,
                "not_found:",
                "not_found",
                "there is no such row",
            ),
            _ => return None,
        };

        Some(Self::one(
            kind,
            status.to_owned(),
            identifier,
            message.to_owned(),
            None,
        ))
    }

    /// Returns the failure of a call that conflicts with others that change or lock the same data.
    pub(crate) fn contended(message: String) -> Self {
        let mut failure = Self::one(
            Kind::Conflict,
            "conflict:changed".to_owned(),
            "changed",
            message,
            None,
        );

        failure
            .extensions
            .insert(RETRYABLE.to_owned(), ExactJson::Bool(true));
        failure.origin = Origin::Passing;

        failure
    }

    fn of_constraint(fault: &Fault, constraints: &Constraints) -> Option<Self> {
        let declared = constraints.get(fault.constraint.as_deref()?)?;

        // The value already exists; with any other code, the value is not allowed.
        let taken = matches!(fault.code.as_str(), "23505" | "23P01");
        let (kind, prefix) = if taken {
            (Kind::Conflict, "conflict")
        } else {
            (Kind::Validation, "validation")
        };

        let identifier = declared.identifier.as_ref().unwrap_or(&declared.name);
        let details = declared
            .field
            .as_ref()
            .map(|field| text_field("field", field.as_ref()));
        let (status, message) = (
            format!("{prefix}:{identifier}"),
            declared.message.clone().into_owned(),
        );

        Some(Self::one(kind, status, identifier, message, details))
    }
}

/// Returns the error for clients if the database fails in a mutation whose result has no place for
/// the error.
pub(crate) fn failed_call(error: DbError, constraints: &Constraints) -> Error {
    Failure::of_error(error, constraints).map_or_else(|error| error, Failure::into_error)
}

/// Returns the error for clients if a resolver's own SQL has failed and an author declared the
/// failure; else the same error.
pub(crate) fn failed_sql(error: Error, constraints: &Constraints) -> Error {
    // The resolver has already chosen a message for clients.
    if !error.is_masked() {
        return error;
    }

    #[cfg(feature = "sqlx")]
    if let Some(failure) = error
        .source()
        .and_then(|source| Failure::of_fault(Fault::of_own_sql(source)?, constraints))
    {
        return failure.into_error();
    }

    let _ = constraints;
    error
}
