//! Errors of single fields: they stand beside `data`, with a path.

use std::borrow::Cow;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::path::{Path, Segment};
use super::plan::PlanField;
use crate::{Error, ErrorCode};

/// One error of the execution.
#[derive(Debug)]
pub(crate) struct FieldError {
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: Cow<'static, str>,
    pub(crate) path: Vec<Segment>,
    /// Where the field stands in the document.
    pub(crate) offsets: Vec<usize>,
    pub(crate) extensions: Map<String, Value>,
}

impl FieldError {
    /// An error of a resolver, as the client may see it. What is masked goes to the log under an `errorId`.
    pub(crate) fn new(error: &Error, field: &PlanField, path: &Path<'_>) -> Self {
        let mut extensions = error.extensions().clone();
        let path = path.segments();
        let message = if error.is_masked() {
            let id = Uuid::new_v4();
            let shown = serde_json::to_string(&path).unwrap_or_default();
            tracing::error!(error_id = %id, path = shown, error = error.chain(), "a field failed");
            extensions.insert("errorId".to_owned(), id.to_string().into());
            Cow::Borrowed("internal server error")
        } else {
            Cow::Owned(error.message().to_owned())
        };
        Self { code: Cow::Owned(error.code().to_owned()), message, path, offsets: field.offsets.clone(), extensions }
    }

    /// A value that breaks its declared type.
    pub(crate) fn value(message: String, field: &PlanField, path: &Path<'_>) -> Self {
        Self {
            code: Cow::Borrowed(ErrorCode::InternalServerError.as_str()),
            message: Cow::Owned(message),
            path: path.segments(),
            offsets: field.offsets.clone(),
            extensions: Map::new(),
        }
    }
}
