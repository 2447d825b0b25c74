//! Completed values: their JSON bytes, and the errors of their completion.

use super::field_error::FieldError;

/// A null that propagates to the nearest field that allows it (GraphQL specification, section
/// 6.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PropagatedNull;

/// A completed value: its JSON unless a null propagates from it, and its errors.
#[derive(Debug)]
pub struct CompletedValue {
    pub(crate) bytes: Result<Vec<u8>, PropagatedNull>,
    pub errors: Vec<FieldError>,
}

impl CompletedValue {
    /// A null without an error.
    pub(crate) fn null() -> Self {
        Self {
            bytes: Ok(b"null".to_vec()),
            errors: Vec::new(),
        }
    }

    /// Drops the value if it has an error, and returns all its errors but the first.
    pub(crate) fn halt(&mut self) -> Vec<FieldError> {
        if self.errors.is_empty() {
            return Vec::new();
        }

        self.bytes = Err(PropagatedNull);

        self.errors.split_off(1)
    }
}
