//! Removes the white space from PostgreSQL's JSON.

use svc_core::exact_json::{string_end, write_text};
use svc_core::scalar::is_escaped_once;

/// Appends JSON that PostgreSQL wrote from `jsonb`, without white space. Numbers keep their digits.
pub(super) fn compact(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at).0;
                string(&text[at..end], out);
                at = end;
            }
            b' ' => at += 1,
            _ => {
                let rest = &bytes[at..];
                let length = rest
                    .iter()
                    .position(|byte| matches!(byte, b'"' | b' '))
                    .unwrap_or(rest.len());
                out.extend_from_slice(&rest[..length]);
                at += length;
            }
        }
    }
}

/// Appends a string; `quoted` includes its quotes.
fn string(quoted: &str, out: &mut Vec<u8>) {
    let inside = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    if is_escaped_once(inside.as_bytes()) {
        out.extend_from_slice(quoted.as_bytes());
        return;
    }

    match serde_json::from_str::<String>(quoted) {
        Ok(text) => write_text(out, &text),
        Err(_) => out.extend_from_slice(quoted.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::compact;
    use svc_core::exact_json::ExactJson;

    #[test]
    fn white_space_of_postgresql_is_removed() {
        for text in [
            "null",
            r#"{"a": [1, 2.50, {}, []], "b c": "d \\ \" e", "": "\u0001\n ü"}"#,
            r#"["\u00e4", 1000000000000000000000000000000.10, "\"", " ", "\\"]"#,
        ] {
            let mut out = Vec::new();
            compact(text, &mut out);
            assert_eq!(
                String::from_utf8(out).unwrap(),
                ExactJson::read(text).unwrap().to_string(),
                "{text}"
            );
        }
    }
}
