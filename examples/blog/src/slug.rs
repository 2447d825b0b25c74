//! A scalar of the blog's own.

use svc::async_graphql::Value;
use svc::prelude::*;

/// The identifier of a user or post, as it stands in URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slug(String);

impl Slug {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Lower-case letters and digits, in parts joined by single hyphens: `post-42`.
#[svc_scalar]
impl ScalarType for Slug {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) if is_slug(&text) => Ok(Self(text)),
            Value::String(_) => Err(InputValueError::custom(
                "a slug has lower-case letters, digits and single hyphens",
            )),
            other => Err(InputValueError::expected_type(other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
}

fn is_slug(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(plain)
}
