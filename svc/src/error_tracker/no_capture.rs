//! The captures of builds without the feature `sqlx`, which capture nothing.

use crate::error::{ErrorIds, ErrorLocation};

/// The request during which an error happened.
#[derive(Debug, Default, Clone)]
#[expect(dead_code, reason = "errors are not tracked")]
pub(crate) struct Facts {
    pub(crate) operation: Option<String>,
    pub(crate) user_id: Option<String>,
}

/// Whether errors are captured; without the feature `sqlx` none are.
pub(crate) fn is_tracking() -> bool {
    false
}

/// Captures an error; without the feature `sqlx`, does nothing.
pub(crate) fn capture(_: &ErrorIds, _: &ErrorLocation, _: &str, _: &str, _: usize, _: &Facts) {}
