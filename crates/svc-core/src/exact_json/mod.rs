//! JSON whose numbers keep all their digits, regardless of their source.
//!
//! `serde_json::Value` stores numbers as 64-bit integers and doubles. Its feature
//! `arbitrary_precision` would keep the digits, but a feature applies to all crates of a program:
//! it changes the meaning of `Value` for users, and breaks `#[serde(flatten)]` and untagged enums
//! over it.

mod number;
mod read;
mod scan;
mod text;

pub use number::ExactNumber;
pub use number::plain_decimal;
pub use read::Malformed;
pub(crate) use scan::special;
pub use scan::{is_plain, string_end};
pub use text::{shorten, write_text};

use std::fmt;

use async_graphql::{Name, Value};
use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// A JSON value whose numbers keep all their digits.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ExactJson {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(ExactNumber),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<ExactJson>),
    /// An object.
    Object(Fields),
}

/// The fields of an object, in order. If a name is repeated, the last value wins.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fields(IndexMap<String, ExactJson>);

impl Fields {
    #[doc(hidden)]
    pub fn with_capacity(fields: usize) -> Self {
        Self(IndexMap::with_capacity(fields))
    }

    #[doc(hidden)]
    pub fn insert(&mut self, name: String, value: ExactJson) {
        self.0.insert(name, value);
    }

    #[doc(hidden)]
    pub fn get(&self, name: &str) -> Option<&ExactJson> {
        self.0.get(name)
    }

    #[cfg(feature = "upload")]
    #[doc(hidden)]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut ExactJson> {
        self.0.get_mut(name)
    }

    /// Removes a field and returns it; the order of the remaining fields is lost.
    #[doc(hidden)]
    pub fn take(&mut self, name: &str) -> Option<ExactJson> {
        // `shift_remove` would move all later fields, and objects are taken apart field by field.
        self.0.swap_remove(name)
    }

    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ExactJson)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    #[doc(hidden)]
    pub fn into_iter(self) -> impl Iterator<Item = (String, ExactJson)> {
        self.0.into_iter()
    }

    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl ExactJson {
    /// Parses a JSON text.
    ///
    /// # Errors
    /// If the text is not JSON, or nests deeper than 128 levels.
    #[doc(hidden)]
    pub fn read(text: &str) -> Result<Self, Malformed> {
        read::read(text)
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// A field of an object.
    #[doc(hidden)]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.get(name),
            _ => None,
        }
    }

    /// Converts to `serde_json`; numbers that it cannot represent become the nearest doubles.
    ///
    /// # Errors
    /// If a number is too large for a double.
    #[doc(hidden)]
    pub fn nearest(self) -> Result<serde_json::Value, serde_json::Error> {
        use serde_json::Value as Json;

        Ok(match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => Json::Number(number.nearest()?),
            Self::String(text) => Json::String(text),
            Self::Array(items) => Json::Array(
                items
                    .into_iter()
                    .map(Self::nearest)
                    .collect::<Result<_, _>>()?,
            ),
            Self::Object(fields) => {
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| Ok((name, value.nearest()?)));
                Json::Object(fields.collect::<Result<_, serde_json::Error>>()?)
            }
        })
    }

    /// Converts to `serde_json`; numbers that it cannot represent become strings of their digits.
    #[doc(hidden)]
    pub fn held_or_text(self) -> serde_json::Value {
        use serde_json::Value as Json;

        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => number
                .held()
                .map_or_else(|| Json::String(number.to_string()), Json::Number),
            Self::String(text) => Json::String(text),
            Self::Array(items) => Json::Array(items.into_iter().map(Self::held_or_text).collect()),
            Self::Object(fields) => Json::Object(
                fields
                    .into_iter()
                    .map(|(name, value)| (name, value.held_or_text()))
                    .collect(),
            ),
        }
    }

    /// Converts to the GraphQL value for users' scalars, with numbers as in
    /// [`nearest`](Self::nearest).
    ///
    /// # Errors
    /// If a number is too large for a double.
    #[doc(hidden)]
    pub fn nearest_value(self) -> Result<Value, serde_json::Error> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Boolean(value),
            Self::Number(number) => Value::Number(number.nearest()?),
            Self::String(text) => Value::String(text),
            Self::Array(items) => Value::List(
                items
                    .into_iter()
                    .map(Self::nearest_value)
                    .collect::<Result<_, _>>()?,
            ),
            Self::Object(fields) => {
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| Ok((Name::new(name), value.nearest_value()?)));
                Value::Object(fields.collect::<Result<_, serde_json::Error>>()?)
            }
        })
    }

    /// The value of an argument of the scalar `JSON`. If GraphQL values cannot represent its
    /// numbers, it is stored as JSON text in the variant for bytes, which no other argument uses.
    #[doc(hidden)]
    pub fn into_argument(self) -> Value {
        if self.is_held() {
            // Numbers that `serde_json` represents exactly are not too large either.
            return self.nearest_value().unwrap_or_default();
        }
        Value::Binary(self.to_string().into())
    }

    /// Converts a coerced value, including the text form of [`into_argument`](Self::into_argument).
    #[doc(hidden)]
    pub fn of_argument(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(ExactNumber::of(&number.to_string())),
            Value::String(text) => Self::String(text),
            // JSON has no enums, so a bare name in a literal becomes a text.
            Value::Enum(name) => Self::String(name.to_string()),
            Value::Binary(bytes) => {
                let text = std::str::from_utf8(&bytes).ok();

                // `into_argument` has written the bytes, so they are valid JSON.
                text.and_then(|text| Self::read(text).ok())
                    .unwrap_or_default()
            }
            Value::List(items) => Self::Array(items.into_iter().map(Self::of_argument).collect()),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (name.to_string(), Self::of_argument(value)))
                .collect(),
        }
    }

    /// Replaces the text form of [`into_argument`](Self::into_argument) with some other JSON, for
    /// types of the program that only report whether they accept the value.
    #[doc(hidden)]
    pub fn without_digits(value: Value) -> Value {
        match value {
            Value::Binary(_) => Value::Boolean(true),
            Value::List(items) => {
                Value::List(items.into_iter().map(Self::without_digits).collect())
            }
            Value::Object(fields) => Value::Object(
                fields
                    .into_iter()
                    .map(|(name, value)| (name, Self::without_digits(value)))
                    .collect(),
            ),
            other => other,
        }
    }

    /// Whether `serde_json` represents all numbers with their exact digits.
    fn is_held(&self) -> bool {
        match self {
            Self::Number(number) => number.is_held(),
            Self::Array(items) => items.iter().all(Self::is_held),
            Self::Object(fields) => fields.iter().all(|(_, value)| value.is_held()),
            _ => true,
        }
    }

    /// Whether the value contains a number with so large an exponent that PostgreSQL would write
    /// out hundreds of zeros or more: a few bytes of a request could become gigabytes of a
    /// response.
    #[doc(hidden)]
    pub fn has_huge_number(&self) -> bool {
        match self {
            Self::Number(number) => number.is_huge(),
            Self::Array(items) => items.iter().any(Self::has_huge_number),
            Self::Object(fields) => fields.iter().any(|(_, value)| value.has_huge_number()),
            Self::Null | Self::Bool(_) | Self::String(_) => false,
        }
    }

    /// Appends the value without whitespace.
    #[doc(hidden)]
    pub fn write(&self, out: &mut Vec<u8>) {
        let comma = |out: &mut Vec<u8>, index| {
            if index > 0 {
                out.push(b',');
            }
        };

        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Self::Number(number) => number.write(out),
            Self::String(text) => write_text(out, text),
            Self::Array(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    comma(out, index);
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Object(fields) => {
                out.push(b'{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    comma(out, index);
                    write_text(out, name);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }
}

impl FromIterator<(String, ExactJson)> for ExactJson {
    fn from_iter<I: IntoIterator<Item = (String, ExactJson)>>(fields: I) -> Self {
        Self::Object(Fields(fields.into_iter().collect()))
    }
}

impl fmt::Display for ExactJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);

        // `write` only appends UTF-8, so nothing is replaced.
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

/// Converts a `serde_json` value, with the digits that `serde_json` prints.
impl From<serde_json::Value> for ExactJson {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value as Json;

        match value {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => Self::Number(ExactNumber::of(&number.to_string())),
            Json::String(text) => Self::String(text),
            Json::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Json::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (name, Self::from(value)))
                .collect(),
        }
    }
}

/// For deserializers that support integers. Other numbers lose their digits there, so they are an
/// error; use `ExactJson::read` for them.
impl<'de> Deserialize<'de> for ExactJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = ExactJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON whose numbers are integers")
            }
            fn visit_unit<E>(self) -> Result<ExactJson, E> {
                Ok(ExactJson::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<ExactJson, E> {
                Ok(ExactJson::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<ExactJson, E> {
                Ok(ExactJson::Number(value.into()))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<ExactJson, E> {
                // The caller reads such a text again with `ExactJson::read`, which keeps the
                // digits.
                let value =
                    i64::try_from(value).map_err(|_| E::custom("a number of more than 63 bits"))?;
                Ok(ExactJson::Number(value.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<ExactJson, E> {
                Ok(ExactJson::String(text.to_owned()))
            }
            fn visit_string<E>(self, text: String) -> Result<ExactJson, E> {
                Ok(ExactJson::String(text))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ExactJson, A::Error> {
                let mut array = Vec::new();
                while let Some(item) = items.next_element()? {
                    array.push(item);
                }
                Ok(ExactJson::Array(array))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ExactJson, A::Error> {
                let mut fields = Fields::default();
                while let Some((name, value)) = map.next_entry::<String, ExactJson>()? {
                    // A number, if the program has enabled `arbitrary_precision`.
                    if name.starts_with("$serde_json::private") {
                        return Err(A::Error::custom("a number of any precision"));
                    }
                    fields.insert(name, value);
                }

                Ok(ExactJson::Object(fields))
            }
        }

        deserializer.deserialize_any(Whole)
    }
}
