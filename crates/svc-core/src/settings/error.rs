//! Errors of settings.

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value:?}; {allowed}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The environment variable or the field.
    pub name: String,
    /// Its value; `***` for a database URL.
    pub value: String,
    /// The allowed values.
    pub allowed: String,
}

impl ConfigError {
    #[doc(hidden)]
    pub fn new(name: &str, value: impl Into<String>, allowed: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: without_credentials(value.into()),
            allowed: allowed.to_owned(),
        }
    }
}

/// Hides the part of a value before an `@`, as that may be a password. Of several at signs, it ends
/// at the last, as any of them may be part of the password.
fn without_credentials(value: String) -> String {
    let Some((before, after)) = value.rsplit_once('@') else {
        return value;
    };
    let scheme = before.find("://").map_or("", |end| &before[..end + 3]);
    format!("{scheme}***@{after}")
}

#[cfg(test)]
mod tests {
    use super::ConfigError;

    #[test]
    fn credentials_are_not_shown() {
        for (value, shown) in [
            ("https://u:secret@x.y", "https://***@x.y"),
            ("https://a.b, https://u:se@cr,et/@x.y", "https://***@x.y"),
            ("u:secret@x.y", "***@x.y"),
            ("[\"https://u:secret@x.y\"]", "[\"https://***@x.y\"]"),
            ("https://x.y", "https://x.y"),
        ] {
            assert_eq!(ConfigError::new("SVC_CORS_ORIGINS", value, "").value, shown);
        }
    }
}
