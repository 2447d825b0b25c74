//! Numbers within bounds, written as JSON numbers.

use async_graphql::{InputType, InputValueError, InputValueResult, Value};
use serde_json::Number;

use super::ScalarError;

/// Reads a GraphQL value that must be a number.
fn parse<T: TryFrom<f64, Error = ScalarError> + InputType>(value: &Value, rule: &'static str) -> InputValueResult<T> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        _ => None,
    };
    let number = number.ok_or_else(|| InputValueError::custom(ScalarError::plain(rule, value)))?;
    T::try_from(number).map_err(InputValueError::custom)
}

/// The shortest JSON number, whole ones without a fraction.
fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is zero and the bounds are small")]
    let whole = value as i64;
    if value.fract() == 0.0 { Value::Number(whole.into()) } else { Number::from_f64(value).map_or(Value::Null, Value::Number) }
}

/// A newtype over a number within bounds that its type, one of Rust's, may exceed.
macro_rules! bounded {
    ($(#[$meta:meta])* $ty:ident($inner:ident), $range:expr, $rule:literal,
     description = $description:tt $(, $key:ident = $value:literal)*) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $ty($inner);

        impl $ty {
            /// The number.
            #[must_use]
            pub fn get(self) -> $inner {
                self.0
            }
        }

        // The bounds leave no NaN, and zero has no sign.
        impl Eq for $ty {}

        impl std::hash::Hash for $ty {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                f64::from(self.0).to_bits().hash(state);
            }
        }

        impl std::str::FromStr for $ty {
            type Err = ScalarError;
            fn from_str(text: &str) -> Result<Self, ScalarError> {
                let number: Option<f64> = text.parse().ok();
                number.and_then(|number| Self::try_from(number).ok()).ok_or_else(|| ScalarError::new($rule, text))
            }
        }

        impl TryFrom<String> for $ty {
            type Error = ScalarError;
            fn try_from(text: String) -> Result<Self, ScalarError> {
                text.parse()
            }
        }

        impl From<$ty> for $inner {
            fn from(value: $ty) -> Self {
                value.0
            }
        }

        impl From<$ty> for crate::db::SqlValue {
            fn from(value: $ty) -> Self {
                Self::Text(value.to_string())
            }
        }

        impl std::fmt::Display for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl serde::Serialize for $ty {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                number(self.0.into()).serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $ty {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = f64::deserialize(deserializer)?;
                Self::try_from(number).map_err(serde::de::Error::custom)
            }
        }

        #[doc = $description]
        #[crate::svc_scalar(crate = crate $(, $key = $value)*)]
        impl async_graphql::ScalarType for $ty {
            fn parse(value: Value) -> InputValueResult<Self> {
                parse(&value, $rule)
            }
            fn to_value(&self) -> Value {
                number(self.0.into())
            }
        }
    };
}
