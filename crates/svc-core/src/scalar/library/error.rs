//! The error of a text that is not a value of a scalar.

use std::borrow::Cow;

use crate::exact_json::shorten;

/// A value that breaks its scalar's rule. The text names the rule and the value, and is for the
/// client.
///
/// ```
/// use svc::scalar::Slug;
///
/// let error = "Not a slug".parse::<Slug>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "expected lower-case letters and digits in words joined by single hyphens, found \"Not a slug\""
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}, found {found}")]
pub struct ScalarError {
    rule: Cow<'static, str>,
    found: String,
}

impl ScalarError {
    /// Creates the error of a text `found` that breaks `rule`, which begins with `expected`. A long
    /// text is shortened.
    pub fn new(rule: impl Into<Cow<'static, str>>, found: &str) -> Self {
        Self {
            rule: rule.into(),
            // `Debug` escapes line breaks, so a value cannot imitate a line of the log.
            found: format!("{:?}", shorten(found)),
        }
    }

    /// The same for a value that is not a text, shown as it is written.
    pub(crate) fn plain(rule: impl Into<Cow<'static, str>>, found: &dyn std::fmt::Display) -> Self {
        Self {
            rule: rule.into(),
            found: shorten(&found.to_string()),
        }
    }

    /// Returns the rule that is broken.
    pub fn rule(&self) -> &str {
        &self.rule
    }
}
