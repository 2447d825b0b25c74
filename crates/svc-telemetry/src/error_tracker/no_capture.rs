//! The captures of builds without the feature `sqlx`, which capture nothing.

use svc_core::error::{ErrorIds, ErrorLocation};

/// The request during which an error happened.
#[derive(Debug, Default, Clone)]
#[allow(dead_code, reason = "errors are not tracked")]
pub struct Facts {
    pub operation: Option<String>,
    pub user_id: Option<String>,
}

/// Whether errors are captured; without the feature `sqlx` none are.
pub fn is_tracking() -> bool {
    false
}

/// Captures an error; without the feature `sqlx`, does nothing.
pub fn capture(_: &ErrorIds, _: &ErrorLocation, _: &str, _: &str, _: usize, _: &Facts) {}
