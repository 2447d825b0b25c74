//! The context of an error that a program captures.

use std::collections::BTreeMap;

use serde_json::Value;

/// The context of an error: the function that has failed, the user, and whatever else helps to find the reason. The
/// request and the trace are known without it.
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
    /// A context without anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the function, which is a part of what errors are grouped by.
    pub fn function(self, function: impl Into<String>) -> Self {
        Self { function: Some(function.into()), ..self }
    }

    /// Sets the user.
    pub fn user_id(self, user_id: impl Into<String>) -> Self {
        Self { user_id: Some(user_id.into()), ..self }
    }

    /// Sets the operation.
    pub fn operation(self, operation: impl Into<String>) -> Self {
        Self { operation: Some(operation.into()), ..self }
    }

    /// Adds a value. All of them together have at most 8 KiB as JSON; what has more is replaced by its size.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }
}
