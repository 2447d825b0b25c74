//! The Rust types of the built-in scalars.

use async_graphql::{ID, Value};
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use rust_decimal::Decimal;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{
    FromStored, Input, InputError, Output, Registry, Resolved, StoredError, TypeRef, WriteScalar,
};
use crate::exact_json::{ExactJson, ExactNumber};
use crate::scalar::{parse_time, shortest_decimal, text, write_time};
use crate::schema::{ScalarKind, ScalarMeta};

/// Declares the metadata of a scalar.
macro_rules! scalar {
    ($meta:ident, $name:literal, $kind:ident, $description:expr, $url:expr) => {
        static $meta: ScalarMeta = ScalarMeta {
            name: $name,
            description: $description,
            specified_by: $url,
            kind: ScalarKind::$kind,
        };
    };
}

scalar!(INT, "Int", Int, None, None);
scalar!(FLOAT, "Float", Float, None, None);
scalar!(STRING, "String", String, None, None);
scalar!(BOOLEAN, "Boolean", Boolean, None, None);
scalar!(ID_SCALAR, "ID", Id, None, None);
scalar!(
    BIG_INT,
    "BigInt",
    BigInt,
    Some("A 64-bit integer, with or without a sign: a number up to 2^53, a string beyond."),
    None
);
scalar!(
    UUID,
    "UUID",
    Uuid,
    Some("A universally unique identifier."),
    Some("https://www.rfc-editor.org/rfc/rfc9562")
);
scalar!(
    DATE_TIME,
    "DateTime",
    DateTime,
    Some(
        "An instant, written in UTC. Years beyond 9999 and before 1 have a sign and six digits, as in ISO 8601: \
         `+020000-01-01T00:00:00Z`. The year 0000 is 1 BC."
    ),
    Some("https://www.rfc-editor.org/rfc/rfc3339")
);
scalar!(
    DATE,
    "Date",
    Date,
    Some(
        "A calendar date, as YYYY-MM-DD. Years beyond 9999 and before 1 have a sign and six digits, as in ISO 8601: \
         `+020000-01-01`. The year 0000 is 1 BC."
    ),
    Some("https://www.rfc-editor.org/rfc/rfc3339")
);
scalar!(
    TIME,
    "Time",
    Time,
    Some("A time of day, as HH:MM:SS with an optional fraction."),
    None
);
scalar!(
    DECIMAL,
    "Decimal",
    Decimal,
    Some("An exact decimal number, as a string."),
    None
);
scalar!(
    JSON,
    "JSON",
    Json,
    Some("Any JSON value."),
    Some("https://www.rfc-editor.org/rfc/rfc8259")
);

macro_rules! impl_scalar {
    ($ty:ty, $meta:ident, $expected:literal, |$this:ident| $resolve:expr, |$value:ident| $parse:expr, |$json:ident| $stored:expr) => {
        impl Output for $ty {
            fn type_ref(registry: &mut Registry) -> TypeRef {
                registry.scalar(&$meta)
            }
            fn resolve(&self) -> Resolved<'_> {
                let $this = self;
                $resolve
            }
        }
        impl Input for $ty {
            // By the name, because types cannot be compared in constants.
            const IS_TEXT: bool = matches!(stringify!($ty).as_bytes(), b"String");
            fn type_ref(registry: &mut Registry) -> TypeRef {
                registry.scalar(&$meta)
            }
            fn parse(value: Option<Value>) -> Result<Self, InputError> {
                let parsed = value.as_ref().and_then(|$value| $parse);
                parsed.ok_or_else(|| InputError::expected($expected, value.as_ref()))
            }
        }
        impl FromStored for $ty {
            fn from_stored(value: ExactJson) -> Result<Self, StoredError> {
                let $json = &value;
                let parsed: Option<Self> = $stored;
                parsed.ok_or_else(|| StoredError::new($expected, &value))
            }
        }
    };
}

macro_rules! impl_integer {
    ($meta:ident, $expected:literal, $resolve:expr, $($ty:ty),*) => {$(
        impl_scalar!(
            $ty, $meta, $expected,
            |this| $resolve(this),
            |value| value_integer(value).and_then(|n| n.try_into().ok()),
            |json| json_integer(json).and_then(|n| n.try_into().ok())
        );
    )*};
}

impl_integer!(
    INT,
    "a 32-bit integer",
    |n: &_| Resolved::Int(i64::from(*n)),
    i8,
    i16,
    i32,
    u8,
    u16
);

// A `u32` exceeds GraphQL's `Int`, which has 32 bits with a sign.
impl_integer!(BIG_INT, "a 64-bit integer", Resolved::Scalar, i64, u32, u64);

impl_scalar!(
    f64,
    FLOAT,
    "a number",
    |this| Resolved::Float(*this),
    |value| match value {
        Value::Number(n) => n.as_f64(),
        _ => None,
    },
    |json| json_float(json)
);
impl_scalar!(
    f32,
    FLOAT,
    "a number",
    |this| Resolved::Scalar(this),
    |value| match value {
        Value::Number(n) => n.as_f64().and_then(narrow),
        _ => None,
    },
    |json| json_float(json).and_then(narrow)
);
impl_scalar!(
    bool,
    BOOLEAN,
    "true or false",
    |this| Resolved::Boolean(*this),
    |value| match value {
        Value::Boolean(b) => Some(*b),
        _ => None,
    },
    |json| match json {
        ExactJson::Bool(value) => Some(*value),
        _ => None,
    }
);
impl_scalar!(
    String,
    STRING,
    "a string",
    |this| Resolved::Str(this),
    |value| value_text(value),
    |json| json.as_str().map(str::to_owned)
);
impl_scalar!(
    ID,
    ID_SCALAR,
    "an ID",
    |this| Resolved::Str(this),
    |value| match value {
        // The specification accepts integers as ids in input, and always writes strings.
        Value::Number(n) => n.as_i64().map(|n| ID(n.to_string())),
        other => value_text(other).map(ID),
    },
    |json| match json {
        // The same number has several texts with a fraction or an exponent, and ids compare as
        // texts.
        ExactJson::Number(n) => n.is_written_as_integer().then(|| ID(n.to_string())),
        other => other.as_str().map(|text| ID(text.to_owned())),
    }
);
impl_scalar!(
    Uuid,
    UUID,
    "a UUID",
    |this| Resolved::Scalar(this),
    |value| value_text(value).and_then(|text| Uuid::try_parse(&text).ok()),
    |json| json.as_str().and_then(|text| Uuid::try_parse(text).ok())
);
impl_scalar!(
    DateTime<Utc>,
    DATE_TIME,
    "an RFC 3339 date and time",
    |this| Resolved::Scalar(this),
    |value| value_text(value).and_then(|text| text::parse_instant(&text)),
    |json| json.as_str().and_then(text::parse_instant)
);
impl_scalar!(
    NaiveDate,
    DATE,
    "a date as YYYY-MM-DD",
    |this| Resolved::Scalar(this),
    |value| value_text(value).and_then(|text| text::parse_date(&text)),
    |json| json.as_str().and_then(text::parse_date)
);
impl_scalar!(
    NaiveTime,
    TIME,
    "a time as HH:MM:SS",
    |this| Resolved::Scalar(this),
    |value| value_text(value).and_then(|text| parse_time(&text)),
    |json| json.as_str().and_then(parse_time)
);
impl_scalar!(
    Decimal,
    DECIMAL,
    "a decimal number",
    |this| Resolved::Scalar(this),
    |value| match value {
        Value::Number(n) => text::parse_decimal(&n.to_string()),
        other => value_text(other).and_then(|text| text::parse_decimal(&text)),
    },
    |json| match json {
        ExactJson::Number(n) => n.plain().and_then(|digits| text::parse_decimal(&digits)),
        other => other.as_str().and_then(text::parse_decimal),
    }
);
impl_scalar!(
    Json,
    JSON,
    "a JSON value",
    // GraphQL has one null, so a JSON null makes the whole field null.
    |this| if this.is_null() {
        Resolved::Null
    } else {
        Resolved::Scalar(this)
    },
    |value| ExactJson::of_argument(value.clone()).nearest().ok(),
    |json| json.clone().nearest().ok()
);
impl_scalar!(
    Box<RawValue>,
    JSON,
    "a JSON value",
    |this| if this.get() == "null" {
        Resolved::Null
    } else {
        Resolved::Scalar(this)
    },
    |value| RawValue::from_string(ExactJson::of_argument(value.clone()).to_string()).ok(),
    |json| RawValue::from_string(json.to_string()).ok()
);

impl Output for &str {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        registry.scalar(&STRING)
    }
    fn resolve(&self) -> Resolved<'_> {
        Resolved::Str(self)
    }
}

impl Output for std::borrow::Cow<'_, str> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        registry.scalar(&STRING)
    }
    fn resolve(&self) -> Resolved<'_> {
        Resolved::Str(self)
    }
}

macro_rules! write_scalar {
    ($($ty:ty: |$this:ident, $out:ident| $write:expr;)*) => {$(
        impl WriteScalar for $ty {
            fn write(&self, $out: &mut Vec<u8>) -> Result<(), String> {
                let $this = self;
                $write;
                Ok(())
            }
        }
    )*};
}

write_scalar! {
    i64: |this, out| text::write_big_integer(out, (*this).into());
    u32: |this, out| text::write_big_integer(out, (*this).into());
    u64: |this, out| text::write_big_integer(out, (*this).into());
    f32: |this, out| text::write_float(out, shortest_decimal(*this)).map_err(|error| error.0)?;
    Uuid: |this, out| {
        out.push(b'"');
        out.extend_from_slice(this.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
        out.push(b'"');
    };
    DateTime<Utc>: |this, out| text::write_instant(out, *this);
    NaiveDate: |this, out| text::write_date(out, *this);
    NaiveTime: |this, out| write_time(out, *this);
    Decimal: |this, out| crate::exact_json::write_text(out, &this.to_string());
    Json: |this, out| serde_json::to_writer(out, this).map_err(|error| error.to_string())?;
    Box<RawValue>: |this, out| ExactJson::read(this.get()).map_err(|error| error.to_string())?.write(out);
}

/// The nearest `f32`; `None` if it is out of range.
#[expect(
    clippy::cast_possible_truncation,
    reason = "an f32 holds what an f32 can"
)]
fn narrow(value: f64) -> Option<f32> {
    Some(value as f32).filter(|value| value.is_finite())
}

fn value_integer(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => ExactNumber::of(&number.to_string()).as_integer(),
        // Integers beyond 2^53 are strings, because many readers of JSON only have doubles.
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn json_integer(json: &ExactJson) -> Option<i128> {
    match json {
        ExactJson::Number(number) => number.as_integer(),
        ExactJson::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn json_float(json: &ExactJson) -> Option<f64> {
    match json {
        ExactJson::Number(number) => number.as_f64(),
        _ => None,
    }
}

fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}
