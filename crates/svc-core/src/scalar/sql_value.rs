//! Values that filters bind.

use std::borrow::Cow;

use async_graphql::{ID, Value};
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::exact_json::ExactJson;
use crate::scalar::{sql_date, sql_instant};

/// A value in a filter; it is bound to the statement, never written into it.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// SQL null.
    Null,
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Any other value, as the text that PostgreSQL reads as the column's type.
    Text(String),
    /// The right-hand side of `in`.
    List(Vec<SqlValue>),
}

impl SqlValue {
    /// The text that is bound; `None` is null.
    #[doc(hidden)]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            // A list has several texts, which `texts` returns.
            Self::Null | Self::List(_) => None,
            Self::Bool(value) => Some(value.to_string().into()),
            Self::Int(value) => Some(value.to_string().into()),
            Self::Text(text) => Some(text.into()),
        }
    }

    /// The values of a list, or a single value.
    #[doc(hidden)]
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            single => std::slice::from_ref(single),
        }
    }

    /// The texts of a list, or of a single value.
    #[doc(hidden)]
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.items().iter().filter_map(Self::text)
    }

    /// Whether it is a list with a null in it.
    #[doc(hidden)]
    pub fn has_null(&self) -> bool {
        matches!(self, Self::List(items) if items.contains(&Self::Null))
    }

    /// A coerced input object with `from` and `to`, in this order.
    #[doc(hidden)]
    pub fn range(value: &Value) -> Self {
        let Value::Object(fields) = value else {
            return Self::from_graphql(value);
        };

        Self::List(
            ["from", "to"]
                .iter()
                .filter_map(|key| fields.get(*key))
                .map(Self::from_graphql)
                .collect(),
        )
    }

    /// A coerced GraphQL value.
    #[doc(hidden)]
    pub fn from_graphql(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Bool(*value),
            Value::Number(number) => number
                .as_i64()
                .map_or_else(|| Self::Text(number.to_string()), Self::Int),
            Value::String(text) => Self::Text(text.clone()),
            Value::Enum(name) => Self::Text(name.to_string()),
            Value::List(items) => Self::List(items.iter().map(Self::from_graphql).collect()),
            // Objects remain, and JSON that is stored as bytes to keep its digits.
            other => Self::Text(ExactJson::of_argument(other.clone()).to_string()),
        }
    }
}

macro_rules! from {
    ($($ty:ty => |$value:ident| $into:expr),* $(,)?) => {$(
        impl From<$ty> for SqlValue {
            fn from($value: $ty) -> Self {
                $into
            }
        }
    )*};
}

from! {
    bool => |value| Self::Bool(value),
    i16 => |value| Self::Int(value.into()),
    i32 => |value| Self::Int(value.into()),
    i64 => |value| Self::Int(value),
    u32 => |value| Self::Int(value.into()),
    u64 => |value| i64::try_from(value).map_or_else(|_| Self::Text(value.to_string()), Self::Int),
    // The shortest decimal: widened to a double, `0.1` would become `0.10000000149011612`.
    f32 => |value| Self::Text(value.to_string()),
    f64 => |value| Self::Text(value.to_string()),
    &str => |value| Self::Text(value.to_owned()),
    String => |value| Self::Text(value),
    ID => |value| Self::Text(value.0),
    Uuid => |value| Self::Text(value.to_string()),
    Decimal => |value| Self::Text(value.to_string()),
    DateTime<Utc> => |value| Self::Text(sql_instant(value)),
    NaiveDate => |value| Self::Text(sql_date(value)),
    // chrono writes the end of the day as `23:59:60`, which PostgreSQL reads as `24:00:00`.
    NaiveTime => |value| Self::Text(value.to_string()),
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<SqlValue>> From<Vec<T>> for SqlValue {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}
