//! A mutation that failed in a way its author declared.

use super::response::Response;
use super::status::Kind;
use svc_core::error::Origin;
use svc_core::exact_json::{ExactJson, Fields};
use svc_core::schema::{Model, TypeIndex};
use svc_core::{Error, ErrorCode};

/// The keys of `extensions` that svc writes.
const RESERVED: [&str; 5] = ["code", "errorId", "mutation", "status", "errors"];

/// An entry of `errors`, whose details keep the digits of their numbers; a
/// [`MutationError`](super::MutationError) for clients.
#[derive(Debug)]
pub(crate) struct ErrorEntry {
    code: i32,
    pub(super) identifier: String,
    message: String,
    details: Option<ExactJson>,
}

/// A failure as reported to clients.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: String,
    kind: Kind,
    pub(crate) message: String,
    pub(crate) errors: Vec<ErrorEntry>,
    /// Further fields.
    pub(crate) extensions: Fields,
    /// The origin of the GraphQL error.
    pub(super) origin: Origin,
}

/// Whether a type is the error member of a mutation result.
pub(crate) fn is_failure(model: &Model, ty: TypeIndex) -> bool {
    let name = model.types.get(ty).map(|ty| ty.name.as_str());
    model
        .results
        .values()
        .any(|result| Some(result.error.name) == name)
}

impl Failure {
    /// The failure in a function's own response, with the errors of its metadata, or one that
    /// follows from the status.
    pub(crate) fn of_response(kind: Kind, identifier: &str, response: &Response<'_>) -> Self {
        let status = response.status.clone();
        let message = response.message.clone().unwrap_or_else(|| status.clone());
        let mut failure = Self::one(kind, status, identifier, message, None);
        let given = response
            .metadata
            .get("errors")
            .and_then(|raw| ExactJson::read(raw.get()).ok());
        failure.replace_errors(given, |_| {});

        failure
    }

    /// Replaces the one error by the objects of a list, if there are any. They take missing codes,
    /// identifiers and messages from it.
    pub(crate) fn replace_errors(
        &mut self,
        given: Option<ExactJson>,
        prepare: impl Fn(&mut Fields),
    ) {
        let (Some(ExactJson::Array(given)), Some(first)) = (given, self.errors.first()) else {
            return;
        };

        let entry = |error| match error {
            ExactJson::Object(mut error) => {
                prepare(&mut error);
                Some(filled(error, first))
            }
            _ => None,
        };

        let given: Vec<_> = given.into_iter().filter_map(entry).collect();
        if !given.is_empty() {
            self.errors = given;
        }
    }

    pub(crate) fn one(
        kind: Kind,
        status: String,
        identifier: &str,
        message: String,
        details: Option<ExactJson>,
    ) -> Self {
        let identifier = identifier.to_owned();
        let error = ErrorEntry {
            code: kind.number(),
            identifier,
            message: message.clone(),
            details,
        };

        Self {
            status,
            kind,
            message,
            errors: vec![error],
            extensions: Fields::default(),
            origin: Origin::default(),
        }
    }

    /// Adds a text to the details of each error, if they are missing or an object.
    pub(crate) fn with_detail(mut self, name: &str, text: &str) -> Self {
        for error in &mut self.errors {
            match &mut error.details {
                Some(ExactJson::Object(details)) => {
                    details.insert(name.to_owned(), ExactJson::String(text.to_owned()));
                }
                Some(_) => {}
                details => *details = Some(text_field(name, text)),
            }
        }

        self
    }

    pub(crate) fn code(&self) -> i32 {
        self.kind.number()
    }

    /// The errors as JSON, with the stored names.
    pub(crate) fn errors_json(&self) -> ExactJson {
        let error = |error: &ErrorEntry| {
            let text = |text: &String| ExactJson::String(text.clone());
            ExactJson::from_iter([
                (
                    "code".to_owned(),
                    ExactJson::Number(i64::from(error.code).into()),
                ),
                ("identifier".to_owned(), text(&error.identifier)),
                ("message".to_owned(), text(&error.message)),
                (
                    "details".to_owned(),
                    error.details.clone().unwrap_or_default(),
                ),
            ])
        };

        ExactJson::Array(self.errors.iter().map(error).collect())
    }

    /// Converts the failure to a GraphQL error, for return types that have no place for it.
    pub(crate) fn into_error(self) -> Error {
        let code: ErrorCode = self.kind.code();
        let errors = self.errors_json().held_or_text();
        let error = self.extensions.into_iter().fold(
            Error::new(code, self.message),
            |error, (key, value)| {
                // A function must not claim an effect or an `errorId` in place of svc.
                if RESERVED.contains(&key.as_str()) {
                    error
                } else {
                    error.with_extension(key, value.held_or_text())
                }
            },
        );

        error
            .with_extension("status", self.status)
            .with_extension("errors", errors)
            .with_origin(self.origin)
    }
}

/// An error of the metadata, with a missing code, identifier or message taken from `first`.
fn filled(mut error: Fields, first: &ErrorEntry) -> ErrorEntry {
    let text = |value: Option<ExactJson>| match value {
        Some(ExactJson::String(text)) => Some(text),
        _ => None,
    };

    let code = error
        .get("code")
        .and_then(integer)
        .and_then(|code| i32::try_from(code).ok());

    ErrorEntry {
        code: code.unwrap_or(first.code),
        identifier: text(error.take("identifier")).unwrap_or_else(|| first.identifier.clone()),
        message: text(error.take("message")).unwrap_or_else(|| first.message.clone()),
        details: error.take("details").filter(|details| !details.is_null()),
    }
}

/// The integer value of a code.
pub(super) fn integer(value: &ExactJson) -> Option<i64> {
    match value {
        ExactJson::Number(number) => number
            .as_integer()
            .and_then(|integer| i64::try_from(integer).ok()),
        _ => None,
    }
}

/// An object with one text.
pub(super) fn text_field(name: &str, text: impl Into<String>) -> ExactJson {
    ExactJson::from_iter([(name.to_owned(), ExactJson::String(text.into()))])
}
