//! The implementations that scalars share which are written as a JSON string.

use std::str::FromStr;

use async_graphql::{InputType, InputValueError, InputValueResult, Value};
use serde::{Deserialize as _, Deserializer};

use super::ScalarError;

/// Makes a scalar of a type with `FromStr` and `Display`, whose `Display` is the canonical form.
macro_rules! text_form {
    ($ty:ident, description = $description:tt $(, $key:ident = $value:literal)*) => {
        #[doc = $description]
        #[svc_macros::svc_scalar(crate = crate $(, $key = $value)*)]
        impl async_graphql::ScalarType for $ty {
            fn parse(value: async_graphql::Value) -> async_graphql::InputValueResult<Self> {
                $crate::scalar::library::form::parse(&value)
            }
            fn to_value(&self) -> async_graphql::Value {
                async_graphql::Value::String(self.to_string())
            }
        }

        impl TryFrom<String> for $ty {
            type Error = $crate::scalar::ScalarError;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$ty> for String {
            fn from(value: $ty) -> Self {
                value.to_string()
            }
        }

        impl From<$ty> for $crate::scalar::sql_value::SqlValue {
            fn from(value: $ty) -> Self {
                Self::Text(value.to_string())
            }
        }

        impl serde::Serialize for $ty {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $ty {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::scalar::library::form::deserialize(deserializer)
            }
        }
    };
}

/// A newtype over text. `canonical` is a `fn(&str) -> Result<String, ScalarError>`.
macro_rules! text_newtype {
    ($(#[$meta:meta])* $ty:ident, canonical = $canonical:path, $($form:tt)*) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $ty(String);

        impl $ty {
            /// Returns the canonical text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the canonical text, owned.
            #[must_use]
            pub fn into_inner(self) -> String {
                self.0
            }
        }

        $crate::scalar::library::form::text_view!($ty);

        impl std::str::FromStr for $ty {
            type Err = $crate::scalar::ScalarError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $canonical(text).map(Self)
            }
        }

        $crate::scalar::library::form::text_form!($ty, $($form)*);
    };
}

/// Implements the traits by which a type with `as_str` looks like a text.
macro_rules! text_view {
    ($ty:ident) => {
        impl std::ops::Deref for $ty {
            type Target = str;
            fn deref(&self) -> &str {
                self.as_str()
            }
        }

        impl AsRef<str> for $ty {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // Unlike `write_str`, `pad` honors the width and the alignment of a format.
                f.pad(self.as_str())
            }
        }
    };
}

pub(super) use {text_form, text_newtype, text_view};

/// Reads a GraphQL value that must be a string.
pub(super) fn parse<T: FromStr<Err = ScalarError> + InputType>(
    value: &Value,
) -> InputValueResult<T> {
    match value {
        Value::String(text) => text.parse().map_err(InputValueError::custom),
        other => Err(InputValueError::custom(ScalarError::plain(
            "expected a string",
            other,
        ))),
    }
}

pub(super) fn deserialize<'de, T: FromStr<Err = ScalarError>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map_err(serde::de::Error::custom)
}
