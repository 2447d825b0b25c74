//! The context of an error captured by the program.

use std::collections::BTreeMap;

use serde_json::Value;

/// The context of an error: the function that failed, the user, and other values that help to find
/// the cause. The request and the trace are added automatically.
///
/// ```
/// use svc::error_tracker::ErrorContext;
///
/// let context = ErrorContext::new().function("charge").user_id("ada").with("cart", 3);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "give it to `ErrorTracker::capture_exception`"]
pub struct ErrorContext {
    pub(super) function: Option<String>,
    pub(super) user_id: Option<String>,
    pub(super) operation: Option<String>,
    pub(super) values: BTreeMap<String, Value>,
}

impl ErrorContext {
    /// Creates an empty context.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the function, which is one of the properties that errors are grouped by.
    pub fn function(self, function: impl Into<String>) -> Self {
        Self {
            function: Some(function.into()),
            ..self
        }
    }

    /// Sets the user.
    pub fn user_id(self, user_id: impl Into<String>) -> Self {
        Self {
            user_id: Some(user_id.into()),
            ..self
        }
    }

    /// Sets the operation.
    pub fn operation(self, operation: impl Into<String>) -> Self {
        Self {
            operation: Some(operation.into()),
            ..self
        }
    }

    /// Adds a value. All values together are limited to 8 KiB as JSON; beyond that, they are
    /// replaced by their size.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }
}
