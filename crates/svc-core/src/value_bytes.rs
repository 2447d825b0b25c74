//! Encodes values as unambiguous bytes, for keys.

use async_graphql::Value;

/// Writes a value so that no two values have the same bytes: its type, its length, and its
/// contents.
pub fn value(out: &mut Vec<u8>, one: &Value) {
    match one {
        Value::Null => out.push(b'n'),
        Value::Boolean(value) => out.push(if *value { b't' } else { b'f' }),
        Value::Number(number) => text(out, b'd', &number.to_string()),
        Value::String(string) => text(out, b's', string),
        Value::Enum(name) => text(out, b'e', name),
        // `ExactJson::into_argument` writes numbers this way that `serde_json` cannot represent.
        Value::Binary(content) => bytes(out, b'b', content),
        Value::List(items) => {
            length(out, b'l', items.len());
            items.iter().for_each(|item| value(out, item));
        }
        Value::Object(fields) => {
            length(out, b'o', fields.len());
            for (name, one) in fields {
                text(out, b'k', name);
                value(out, one);
            }
        }
    }
}

/// Writes a text with its kind and its length.
pub fn text(out: &mut Vec<u8>, kind: u8, text: &str) {
    bytes(out, kind, text.as_bytes());
}

/// Writes bytes with their kind and their length.
pub fn bytes(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    length(out, kind, bytes.len());
    out.extend_from_slice(bytes);
}

/// Writes the length of a list with its kind.
pub fn length(out: &mut Vec<u8>, kind: u8, length: usize) {
    out.push(kind);

    // A length has a fixed size, so no separator is needed behind it.
    out.extend_from_slice(&length.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use async_graphql::{Value, value};

    #[test]
    fn no_two_values_have_the_same_bytes() {
        let values: Vec<Value> = vec![
            value!(null),
            value!(true),
            value!(false),
            value!(1),
            value!("1"),
            value!(""),
            value!([]),
            value!({}),
            value!(["a,b"]),
            value!(["a", "b"]),
            value!([["a"], "b"]),
            value!([["a", "b"]]),
            value!("ab"),
            value!({ "a": "b" }),
            value!({ "a": null }),
            value!(["a", null]),
            value!(["a"]),
            value!([1]),
            value!(["1"]),
            value!(1.5),
            value!("1.50"),
            Value::Binary("1.50".into()),
            Value::Binary("1.500".into()),
            Value::List(vec![Value::Binary("1.50".into())]),
        ];

        let bytes = |value: &Value| {
            let mut out = Vec::new();
            super::value(&mut out, value);
            out
        };

        for (index, one) in values.iter().enumerate() {
            for other in &values[index + 1..] {
                assert_ne!(bytes(one), bytes(other), "{one} {other}");
            }
        }
    }
}
