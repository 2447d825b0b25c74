//! Scalars and enums.

use async_graphql::{Name, Value};

use crate::scalar::{LeafError, canonical, is_ready, shorten};
use crate::schema::{ScalarKind, TypeKind};

/// Where a value comes from; literals are stricter than JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Literal,
    Variable,
}

/// Checks a value against a scalar or enum.
pub(crate) fn coerce_leaf(kind: &TypeKind, name: &str, value: Value, origin: Origin) -> Result<Value, String> {
    match kind {
        TypeKind::Enum(def) => {
            let given = match (&value, origin) {
                (Value::Enum(given), _) => given.as_str(),
                (Value::String(given), Origin::Variable) => given.as_str(),
                _ => return Err(refuse(name, "is not a value of it", &value)),
            };
            if def.values.iter().any(|known| known.name == given) {
                Ok(Value::Enum(Name::new(given)))
            } else {
                let known: Vec<_> = def.values.iter().take(20).map(|value| value.name).collect();
                Err(refuse(name, &format!("is not one of {}", known.join(", ")), &value))
            }
        }
        TypeKind::Scalar { kind, .. } => scalar(*kind, name, value, origin),
        _ => Err(format!("`{name}` is no input type")),
    }
}

fn scalar(kind: ScalarKind, name: &str, value: Value, origin: Origin) -> Result<Value, String> {
    use ScalarKind as K;
    let fits = match (kind, &value) {
        (K::Int, Value::Number(number)) => integer(number, origin).is_some_and(|n| i32::try_from(n).is_ok()),
        (K::Float, Value::Number(number)) => number.as_f64().is_some_and(f64::is_finite),
        (K::BigInt, Value::Number(number)) => integer(number, origin).is_some(),
        (K::Id, Value::Number(number)) => number.is_u64() || integer(number, origin).is_some(),
        (K::String | K::Id, Value::String(_)) | (K::Boolean, Value::Boolean(_)) => true,
        (K::Decimal, Value::Number(number)) if is_rounded(number) => {
            let why = "has more digits than a JSON number keeps; send it as a string";
            return Err(refuse(name, why, &value));
        }
        (K::Decimal, Value::Number(_)) => true,
        (K::Uuid | K::DateTime | K::Date | K::Time | K::Decimal | K::BigInt, Value::String(text)) => {
            match other_form(kind, text).map_err(|error| format!("`{name}`: {}", error.0))? {
                Some(value) => return Ok(value),
                None => true,
            }
        }
        (K::Json, _) => true,
        (K::Custom(custom), _) => {
            // In its one form, so that what is stored in that form is found.
            return (custom.recode)(value);
        }
        _ => false,
    };
    match (fits, value) {
        (true, Value::Number(number)) if kind == K::Id => {
            let text = integer(&number, origin).map_or_else(|| number.to_string(), |integer| integer.to_string());
            Ok(Value::String(text))
        }
        (true, value) => Ok(value),
        (false, value) => Err(refuse(name, "cannot represent the value", &value)),
    }
}

/// A text in the one form of its scalar, so that whatever binds it binds what PostgreSQL reads; `None` when it has that
/// already.
fn other_form(kind: ScalarKind, text: &str) -> Result<Option<Value>, LeafError> {
    if is_ready(kind, text.as_bytes()) {
        return Ok(None);
    }
    let mut out = Vec::with_capacity(text.len() + 2);
    canonical(kind, text, &mut out)?;
    let inner = out.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    if inner == Some(text.as_bytes()) {
        return Ok(None);
    }
    serde_json::from_slice(&out).map(Some).map_err(|error| LeafError(error.to_string()))
}

/// Whether a number may have lost digits when it became a double, which is sure to keep 15 and integers below 2^53.
fn is_rounded(number: &serde_json::Number) -> bool {
    let text = number.to_string();
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0');
    let is_large = number.as_f64().is_some_and(|value| value.abs() >= 9_007_199_254_740_992.0);
    number.is_f64() && (is_large || digits.count() > 15)
}

fn integer(number: &serde_json::Number, origin: Origin) -> Option<i64> {
    match origin {
        Origin::Literal => number.as_i64(),
        Origin::Variable => crate::scalar::integer(number),
    }
}

fn refuse(name: &str, why: &str, value: &Value) -> String {
    format!("`{name}` {why}: {}", shorten(&value.to_string()))
}
