//! Errors of a request as a whole: nothing ran, and the response has no `data`.

use super::location::Location;
use svc_core::ErrorCode;

/// One error of a request.
#[derive(Debug, Clone)]
pub struct RequestError {
    pub code: ErrorCode,
    pub message: String,
    pub(crate) locations: Vec<Location>,
    /// The single errors that it combines, if there are several: `extensions.errors`.
    pub(crate) errors: Option<Box<serde_json::Value>>,
}

impl RequestError {
    #[cold]
    #[inline(never)]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            locations: Vec::new(),
            errors: None,
        }
    }

    #[cold]
    pub(crate) fn with_errors(self, errors: Vec<serde_json::Value>) -> Self {
        Self {
            errors: Some(Box::new(errors.into())),
            ..self
        }
    }

    pub(crate) fn at(mut self, location: Option<Location>) -> Self {
        self.locations.extend(location);
        self
    }
}
