//! Scalars and enums.

use async_graphql::{Name, Value};

use svc_core::exact_json::{ExactJson, ExactNumber, shorten};
use svc_core::scalar::{LeafError, canonical, is_canonical, sql_form};
use svc_core::schema::{CustomScalar, ScalarKind, TypeKind};

/// The source of a value; literals are stricter than JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Literal,
    Variable,
}

/// Checks a value against a scalar or enum.
pub(crate) fn coerce_leaf(
    kind: &TypeKind,
    name: &str,
    value: Value,
    origin: Origin,
) -> Result<Value, String> {
    match kind {
        TypeKind::Enum(def) => {
            let given = match (&value, origin) {
                (Value::Enum(given), _) => given.as_str(),
                // JSON has no enum values, so variables send names as strings; a string literal in
                // a document is not an enum value (GraphQL specification, section 3.9).
                (Value::String(given), Origin::Variable) => given.as_str(),
                _ => return Err(refuse(name, "is not a value of it", &value)),
            };

            if def.values.iter().any(|known| known.name == given) {
                Ok(Value::Enum(Name::new(given)))
            } else {
                let known: Vec<_> = def
                    .values
                    .iter()
                    // The message is bounded: an enum may have hundreds of values.
                    .take(20)
                    .map(|value| &*value.name)
                    .collect();

                Err(refuse(
                    name,
                    &format!("is not one of {}", known.join(", ")),
                    &value,
                ))
            }
        }
        TypeKind::Scalar { kind, .. } => scalar(*kind, name, value),
        _ => Err(format!("`{name}` is not an input type")),
    }
}

/// Checks a number against a scalar or enum. Decimals and IDs become their digits, so that none is
/// lost; custom scalars get the number that `serde_json` holds.
pub(crate) fn coerce_number(
    kind: &TypeKind,
    name: &str,
    number: &ExactNumber,
    origin: Origin,
) -> Result<Value, String> {
    use ScalarKind as K;

    let refuse = |why: &str| Err(format!("`{name}` {why}: {}", shorten(&number.to_string())));
    let too_large = |_| {
        format!(
            "`{name}` cannot represent so large a number: {}",
            shorten(&number.to_string())
        )
    };

    // `1.0` in JSON may be an integer, because some languages have one type for all numbers; as a
    // literal it is a `Float` (GraphQL specification, section 3.5.1).
    let integer = match origin {
        Origin::Literal => number
            .is_written_as_integer()
            .then(|| number.as_integer())
            .flatten(),
        Origin::Variable => number.as_integer(),
    };

    let TypeKind::Scalar { kind, .. } = kind else {
        return refuse("is not a value of it");
    };

    match kind {
        K::Int | K::BigInt => match integer.and_then(|value| integer_value(*kind, value)) {
            Some(value) => Ok(value),
            None => refuse("cannot represent the value"),
        },
        K::Float => match number.as_f64() {
            Some(_) => number.nearest().map(Value::Number).map_err(too_large),
            None => refuse("cannot represent so large a number"),
        },
        // `1` and `1.0` have to name the same row, so whole numbers have one text.
        K::Id => match integer.and_then(|value| i64::try_from(value).ok()) {
            Some(value) => Ok(Value::String(value.to_string())),
            // Beyond 64 bits the digits are kept as sent: an ID is a text.
            None if number.is_written_as_integer() => Ok(Value::String(number.to_string())),
            None => refuse("cannot represent the value"),
        },
        K::Decimal => match number.plain() {
            Some(digits) => Ok(Value::String(digits.into_owned())),
            None => refuse(
                "has an exponent too large to write out; send the number as a string of digits",
            ),
        },
        K::Custom(custom) => recode(
            *custom,
            name,
            Value::Number(number.nearest().map_err(too_large)?),
        ),
        _ => refuse("cannot represent the value"),
    }
}

/// Returns the value of an `Int` or a `BigInt`, or `None` if it is out of range.
fn integer_value(kind: ScalarKind, value: i128) -> Option<Value> {
    let is_big = kind == ScalarKind::BigInt;
    if is_big && value > i64::MAX.into() {
        return u64::try_from(value).ok().map(Value::from);
    }

    let value = i64::try_from(value).ok()?;
    let fits = is_big || i32::try_from(value).is_ok();
    fits.then(|| Value::from(value))
}

/// A value of the scalar `JSON`.
pub(super) fn json_argument(json: ExactJson) -> Result<Value, String> {
    #[cfg(feature = "upload")]
    if crate::upload::UploadedFiles::is_value(&json) {
        return Err("is a file; `map` may name variables of the type `Upload` alone".to_owned());
    }

    if json.has_huge_number() {
        return Err(
            "holds a number with an exponent too large to write out; send it as a string"
                .to_owned(),
        );
    }

    Ok(json.into_argument())
}

fn scalar(kind: ScalarKind, name: &str, value: Value) -> Result<Value, String> {
    use ScalarKind as K;

    let fits = match (kind, &value) {
        (K::String | K::Id, Value::String(_)) | (K::Boolean, Value::Boolean(_)) => true,
        (
            K::Uuid | K::DateTime | K::Date | K::Time | K::Decimal | K::BigInt,
            Value::String(text),
        ) => match other_form(kind, text).map_err(|error| format!("`{name}`: {}", error.0))? {
            Some(value) => return Ok(value),
            None => true,
        },
        (K::Json, _) => true,
        (K::Custom(custom), _) => return recode(custom, name, value),
        _ => false,
    };

    if fits {
        Ok(value)
    } else {
        Err(refuse(name, "cannot represent the value", &value))
    }
}

/// Converts a value of a custom scalar to its canonical form, so that values stored in that form
/// are found.
fn recode(scalar: CustomScalar, name: &str, value: Value) -> Result<Value, String> {
    let given = value.clone();
    (scalar.recode)(value).map_err(|reason| {
        let found = format!(", found {}", shorten(&given.to_string()));
        // The scalars of svc already include it.
        let found = if reason.contains(", found ") {
            ""
        } else {
            &found
        };
        format!("`{name}`: {reason}{found}")
    })
}

/// Converts a text to the canonical form of its scalar, so that every bound value is in the form
/// that PostgreSQL reads. Returns `None` if it already has that form.
fn other_form(kind: ScalarKind, text: &str) -> Result<Option<Value>, LeafError> {
    // Most clients send the canonical form, which needs no copy.
    if is_canonical(kind, text.as_bytes()) {
        return Ok(None);
    }

    if let Some(text) = sql_form(kind, text) {
        return Ok(Some(Value::String(text)));
    }

    let mut out = Vec::with_capacity(text.len() + 2);
    canonical(kind, text, &mut out)?;
    let inner = out
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    if inner == Some(text.as_bytes()) {
        return Ok(None);
    }

    serde_json::from_slice(&out)
        .map(Some)
        .map_err(|error| LeafError(error.to_string()))
}

#[cold]
fn refuse(name: &str, why: &str, value: &Value) -> String {
    format!("`{name}` {why}: {}", shorten(&value.to_string()))
}
