//! Errors of settings.

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value:?}; {allowed}")]
pub struct ConfigError {
    /// The environment variable or the field.
    pub name: String,
    /// The value that it has; `***` for a database URL.
    pub value: String,
    /// The values that it may have.
    pub allowed: String,
}

impl ConfigError {
    pub(crate) fn new(name: &str, value: impl Into<String>, allowed: &str) -> Self {
        Self { name: name.to_owned(), value: value.into(), allowed: allowed.to_owned() }
    }
}
