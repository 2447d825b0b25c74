//! Numbers within bounds, written as JSON numbers.

use async_graphql::{InputType, InputValueError, InputValueResult, Value};
use serde_json::Number;

use super::ScalarError;

/// Reads a GraphQL value that must be a number.
fn parse<T: TryFrom<f64, Error = ScalarError> + InputType>(
    value: &Value,
    rule: &'static str,
) -> InputValueResult<T> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        _ => None,
    };
    let number = number.ok_or_else(|| InputValueError::custom(ScalarError::plain(rule, value)))?;
    T::try_from(number).map_err(InputValueError::custom)
}

/// The shortest JSON number, whole ones without a fraction.
fn number(value: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the fraction is zero and the bounds are small"
    )]
    let whole = value as i64;
    if value.fract() == 0.0 {
        Value::Number(whole.into())
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

/// The number when it is within the bounds; a zero loses its sign.
fn within(number: f64, least: f64, most: f64) -> Option<f64> {
    // The addition turns -0.0 into 0.0.
    (least..=most).contains(&number).then_some(number + 0.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the fraction and the bounds are checked"
)]
fn port(number: f64) -> Option<u16> {
    within(number, 0.0, 65_535.0)
        .filter(|number| number.fract() == 0.0)
        .map(|number| number as u16)
}

/// A newtype over a number; `within` is an `Fn(f64) -> Option<$inner>`.
macro_rules! bounded {
    ($(#[$meta:meta])* $ty:ident($inner:ident), within = $within:expr, $rule:literal,
     description = $description:tt $(, $key:ident = $value:literal)*) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $ty($inner);

        impl $ty {
            /// Returns the number.
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

        impl TryFrom<f64> for $ty {
            type Error = ScalarError;
            fn try_from(number: f64) -> Result<Self, ScalarError> {
                let within: fn(f64) -> Option<$inner> = $within;
                within(number).map(Self).ok_or_else(|| ScalarError::plain($rule, &number))
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

        impl From<$ty> for crate::scalar::sql_value::SqlValue {
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
        #[svc_macros::svc_scalar(crate = crate, sql_type = "numeric" $(, $key = $value)*)]
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

bounded! {
    /// A geographic latitude ([RFC 5870](https://www.rfc-editor.org/rfc/rfc5870), WGS 84) in
    /// degrees; north is positive: a JSON number from -90 to 90.
    ///
    /// ```
    /// use svc::scalar::Latitude;
    ///
    /// assert_eq!(Latitude::try_from(47.37)?.get(), 47.37);
    /// assert!(Latitude::try_from(90.1).is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Latitude(f64),
    within = |number| within(number, -90.0, 90.0),
    "expected a latitude in degrees from -90 to 90 (RFC 5870)",
    description = "A latitude in degrees, from -90 to 90; north is positive.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc5870"
}

bounded! {
    /// A geographic longitude ([RFC 5870](https://www.rfc-editor.org/rfc/rfc5870), WGS 84) in
    /// degrees; east is positive: a JSON number from -180 to 180.
    ///
    /// ```
    /// use svc::scalar::Longitude;
    ///
    /// assert_eq!(Longitude::try_from(-180.0)?.get(), -180.0);
    /// assert!(Longitude::try_from(f64::NAN).is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Longitude(f64),
    within = |number| within(number, -180.0, 180.0),
    "expected a longitude in degrees from -180 to 180 (RFC 5870)",
    description = "A longitude in degrees, from -180 to 180; east is positive.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc5870"
}

bounded! {
    /// A share of a whole, in percent: a JSON number from 0 to 100.
    ///
    /// ```
    /// use svc::scalar::Percentage;
    ///
    /// let done = Percentage::try_from(12.5)?;
    /// assert_eq!((done.get(), done.to_string()), (12.5, "12.5".to_owned()));
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Percentage(f64),
    within = |number| within(number, 0.0, 100.0),
    "expected a percentage from 0 to 100",
    description = "A share in percent, from 0 to 100."
}

bounded! {
    /// The number of a TCP or UDP port ([RFC 6335](https://www.rfc-editor.org/rfc/rfc6335)): a JSON
    /// integer from 0 to 65535.
    ///
    /// ```
    /// use svc::scalar::Port;
    ///
    /// assert_eq!(Port::from(443).get(), 443);
    /// assert!("65536".parse::<Port>().is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Port(u16),
    within = port,
    "expected a port from 0 to 65535 (RFC 6335)",
    description = "The number of a TCP or UDP port, from 0 to 65535.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc6335"
}

impl From<u16> for Port {
    fn from(number: u16) -> Self {
        Self(number)
    }
}
