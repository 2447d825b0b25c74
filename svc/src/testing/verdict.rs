//! The verdict of one case for one principal.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

/// The outcome of one case for one principal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The response is complete.
    Allowed,
    /// A part of the response is missing, with these codes.
    Partly(BTreeSet<String>),
    /// The response is empty, with these codes.
    Denied(BTreeSet<String>),
}

impl Verdict {
    /// Returns the verdict for a response.
    pub(super) fn of(answer: &Value) -> Self {
        let codes = codes(answer);
        match codes.is_empty() {
            true => Self::Allowed,
            false if has_leaf(&answer["data"]) => Self::Partly(codes),
            false => Self::Denied(codes),
        }
    }

    /// Returns the word for it: `allow`, `partly` or `deny`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allowed => "allow",
            Self::Partly(_) => "partly",
            Self::Denied(_) => "deny",
        }
    }

    /// Returns the error codes of the missing parts.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        let codes = match self {
            Self::Allowed => None,
            Self::Partly(codes) | Self::Denied(codes) => Some(codes),
        };
        codes.into_iter().flatten().map(String::as_str)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        self.codes().try_for_each(|code| write!(f, " {code}"))
    }
}

fn codes(answer: &Value) -> BTreeSet<String> {
    let errors = answer["errors"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    errors
        .iter()
        .map(|error| {
            error["extensions"]["code"]
                .as_str()
                .unwrap_or("no code")
                .to_owned()
        })
        .collect()
}

/// Whether the value contains anything but null.
fn has_leaf(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => items.iter().any(has_leaf),
        Value::Object(fields) => fields.values().any(has_leaf),
        _ => true,
    }
}
