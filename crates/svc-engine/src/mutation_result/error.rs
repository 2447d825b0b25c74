//! The errors in a result's Error member.

use super::status::{Kind, Status};

/// One thing that is wrong, in the `errors` of a result's Error member.
#[svc_macros::svc_type(crate = crate)]
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct MutationError {
    /// The kind of error, as an HTTP status.
    pub code: i32,
    /// The word that a program tells the error by, such as `email_taken`.
    pub identifier: String,
    /// A sentence for people.
    pub message: String,
    /// Further details, such as `{"field": "email"}`.
    pub details: Option<serde_json::Value>,
}

impl MutationError {
    /// Returns the code and the errors that follow from a status such as `conflict:email_taken`; an
    /// unknown status is a 500.
    ///
    /// A resolver that returns the Error member itself gets its errors here, and may set their
    /// fields.
    ///
    /// ```
    /// use svc::MutationError;
    /// use svc::serde_json::json;
    ///
    /// let (code, mut errors) = MutationError::of_status("conflict:email_taken", "This address is taken.");
    /// errors[0].details = Some(json!({ "field": "email" }));
    /// assert_eq!((code, errors[0].identifier.as_str()), (409, "email_taken"));
    /// ```
    pub fn of_status(status: &str, message: &str) -> (i32, Vec<Self>) {
        let (code, identifier) = match Status::read(status) {
            Status::Failure(kind, identifier) => (kind.number(), identifier),
            Status::Success | Status::Unknown => (Kind::Internal.number(), status),
        };

        let error = Self {
            code,
            identifier: identifier.to_owned(),
            message: message.to_owned(),
            details: None,
        };

        (code, vec![error])
    }
}
