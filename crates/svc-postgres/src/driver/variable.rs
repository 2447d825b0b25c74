//! Values of variables, in PostgreSQL's text format. PostgreSQL parses them as the type it inferred
//! for the parameter.

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, Kind, Type};

use svc_core::exact_json::ExactJson as Value;

/// An error while writing or reading a value.
pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A value that cannot be written for its parameter; nothing was sent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unwritten(String);

/// Writes a value for a parameter of this type.
pub(super) fn write(value: &Value, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
    let is_json = matches!(*base(ty), Type::JSON | Type::JSONB);
    match value {
        Value::Null => return Ok(IsNull::Yes),
        // Before the texts: a text is valid JSON only with its quotes.
        value if is_json => out.extend_from_slice(value.to_string().as_bytes()),
        Value::String(text) => out.extend_from_slice(text.as_bytes()),
        Value::Bool(_) | Value::Number(_) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::Array(items) => match base(ty).kind() {
            Kind::Array(item) => array(items, item, out)?,
            _ => {
                return refuse(format!(
                    "a list cannot be a {}; make the parameter an array or jsonb",
                    ty.name()
                ));
            }
        },
        Value::Object(_) => {
            return refuse(format!(
                "an object cannot be a {}; make the parameter jsonb",
                ty.name()
            ));
        }
    }

    Ok(IsNull::No)
}

fn refuse<T>(why: String) -> Result<T, BoxError> {
    Err(Unwritten(why).into())
}

/// The type underneath any domains.
fn base(ty: &Type) -> &Type {
    match ty.kind() {
        Kind::Domain(inner) => base(inner),
        _ => ty,
    }
}

/// An array of one or more dimensions. Every item is quoted, so no character in it has a special
/// meaning.
fn array(items: &[Value], item: &Type, out: &mut BytesMut) -> Result<(), BoxError> {
    out.extend_from_slice(b"{");

    for (index, value) in items.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b",");
        }

        match value {
            // Without quotes, as PostgreSQL reads `"NULL"` in an array as a text.
            Value::Null => out.extend_from_slice(b"NULL"),
            // In an array of JSON, an inner list is an element, and not another dimension.
            Value::Array(inner) if !matches!(*base(item), Type::JSON | Type::JSONB) => {
                array(inner, item, out)?;
            }
            value => {
                let mut text = BytesMut::new();
                write(value, item, &mut text)?;
                out.extend_from_slice(b"\"");
                for byte in text {
                    if matches!(byte, b'"' | b'\\') {
                        out.extend_from_slice(b"\\");
                    }
                    out.extend_from_slice(&[byte]);
                }
                out.extend_from_slice(b"\"");
            }
        }
    }

    out.extend_from_slice(b"}");

    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(value: &serde_json::Value, ty: &Type) -> Result<String, String> {
        let mut out = BytesMut::new();
        match write(&value.clone().into(), ty, &mut out) {
            Ok(IsNull::Yes) => Ok("(null)".to_owned()),
            Ok(IsNull::No) => Ok(String::from_utf8_lossy(&out).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn values_are_written_in_the_text_format_of_their_type() {
        for (value, ty, text) in [
            (json!(null), Type::JSONB, "(null)"),
            (json!("it's"), Type::TEXT, "it's"),
            (json!("it's"), Type::JSONB, "\"it's\""),
            (json!(1.5), Type::NUMERIC, "1.5"),
            (json!(true), Type::BOOL, "true"),
            (json!({"a": [1]}), Type::JSON, "{\"a\":[1]}"),
            (json!([1, null]), Type::JSONB, "[1,null]"),
            (json!([1, null]), Type::INT4_ARRAY, "{\"1\",NULL}"),
            (
                json!(["a\"\\b", "NULL", ""]),
                Type::TEXT_ARRAY,
                r#"{"a\"\\b","NULL",""}"#,
            ),
            (json!([["a"], ["b"]]), Type::TEXT_ARRAY, r#"{{"a"},{"b"}}"#),
            (
                json!([{"a": "b"}]),
                Type::JSONB_ARRAY,
                r#"{"{\"a\":\"b\"}"}"#,
            ),
        ] {
            assert_eq!(
                written(&value, &ty).as_deref(),
                Ok(text),
                "{value} as {}",
                ty.name()
            );
        }
    }

    #[test]
    fn values_that_fit_no_type_are_errors() {
        let error = written(&json!([1]), &Type::TEXT).unwrap_err();
        assert_eq!(
            error,
            "a list cannot be a text; make the parameter an array or jsonb"
        );
        let error = written(&json!([{"a": 1}]), &Type::TEXT_ARRAY).unwrap_err();
        assert_eq!(
            error,
            "an object cannot be a text; make the parameter jsonb"
        );
    }
}
