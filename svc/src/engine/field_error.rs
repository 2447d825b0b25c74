//! Errors of single fields: they stand beside `data`, with a path.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::path::{Path, Segment};
use super::plan::PlanField;
use crate::{Error, ErrorCode};

/// One error of the execution.
#[derive(Debug)]
pub(crate) struct FieldError {
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: Cow<'static, str>,
    pub(crate) path: Vec<Segment>,
    /// The offsets of the field in the document.
    pub(crate) offsets: Vec<usize>,
    pub(crate) extensions: Map<String, Value>,
    pub(super) logged: Option<Logged>,
}

/// The part of an error that only the log is told.
#[derive(Debug)]
pub(super) struct Logged {
    /// The message and its causes.
    pub(super) chain: String,
    /// Whether the client gets an `errorId` in place of the message.
    pub(super) masked: bool,
}

impl FieldError {
    /// An error of a resolver, as the client may see it; [`log_errors`](super::error_log::log_errors) writes the rest.
    pub(crate) fn new(error: &Error, field: &PlanField, path: &Path<'_>) -> Self {
        let masked = error.is_masked();
        let message =
            if masked { Cow::Borrowed("internal server error") } else { Cow::Owned(error.message().to_owned()) };
        let is_logged = masked || error.source().is_some();
        Self {
            code: Cow::Owned(error.code().to_owned()),
            message,
            path: path.segments(),
            offsets: field.offsets.clone(),
            extensions: error.extensions().clone(),
            logged: is_logged.then(|| Logged { chain: error.chain(), masked }),
        }
    }

    /// A value that breaks its declared type.
    pub(crate) fn value(message: String, field: &PlanField, path: &Path<'_>) -> Self {
        Self {
            code: Cow::Borrowed(ErrorCode::InternalServerError.as_str()),
            message: Cow::Owned(message),
            path: path.segments(),
            offsets: field.offsets.clone(),
            extensions: Map::new(),
            logged: None,
        }
    }

    /// Whether the client gets an `errorId` in place of the message.
    pub(crate) fn is_masked(&self) -> bool {
        self.logged.as_ref().is_some_and(|logged| logged.masked)
    }

    /// Whether the code is one after which a client may send the request again.
    pub(crate) fn invites_retry(&self) -> bool {
        use ErrorCode::{InternalServerError, ServiceUnavailable, Timeout};
        [InternalServerError, ServiceUnavailable, Timeout].iter().any(|code| code.as_str() == self.code)
    }
}
