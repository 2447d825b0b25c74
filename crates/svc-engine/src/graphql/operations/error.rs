//! Errors of operations that cannot be registered.

/// A reason why an operation cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{operation}: {reason}")]
#[non_exhaustive]
pub struct OperationError {
    /// The file, or the beginning of the document.
    pub operation: String,
    /// The problem, and how to fix it.
    pub reason: String,
}

impl OperationError {
    pub(crate) fn new(operation: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            operation: operation.into(),
            reason: reason.into(),
        }
    }
}
